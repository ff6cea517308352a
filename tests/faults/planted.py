def plant(name): pass
