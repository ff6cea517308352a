#!lua flags=allow-oom
-- posted(paid) -> 1
pay(a.paid)
live()
return 1
