"""What STYLE's budgets are, as checks over source: each yields one sentence per fault.

A sentence starts with `file:line` and ends with what to do. A check sees all files at once and
says nothing about files that are not there.
"""

from collections.abc import Mapping

from tests.shape import borders, sizes, ways, words
from tests.shape.files import Check

CHECKS: Mapping[str, Check] = {
    check.__name__: check
    for check in (
        sizes.bodies_are_short,
        sizes.modules_are_short,
        sizes.nothing_is_deep,
        sizes.arguments_are_few,
        words.everything_public_is_documented,
        words.everything_is_annotated,
        ways.imports_are_at_the_top,
        ways.imports_go_one_way,
        ways.the_door_is_a_list,
        ways.the_door_is_used,
        words.names_say_something,
        sizes.borders_are_narrow,
        words.comments_are_rare,
        sizes.scripts_are_short,
        words.tests_are_sentences,
        borders.wire_names_are_spelled_once,
        borders.the_environment_is_read_once,
        borders.clients_have_one_user,
        borders.exceptions_are_named,
        borders.pure_files_stay_pure,
        words.types_are_strict,
        words.nothing_points_at_one_machine,
    )
}
