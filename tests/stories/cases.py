"""What people elsewhere reported about approvals and Slack, and the tests that show it cannot be.

A case is a report in our own words, with where it was read. A test is named `file::function` below
`tests/`; a number is a recorded case of tests/conformance. `LATER` says what is not built yet.
"""

from collections.abc import Mapping

DECIDES = "stories/test_a_person_decides.py"
WHO = "stories/test_who_decides.py"
RUNS = "stories/test_what_runs.py"
CLICKS = "stories/test_every_click_is_answered.py"
TELLS = "stories/test_what_a_card_tells.py"
SHOWS = "stories/test_what_slack_can_show.py"
BAD = "stories/test_bad_input.py"
PROCESSES = "stories/test_processes.py"
DECIDE = "bot/approvals/test_decide.py"
AGAIN = "bot/approvals/test_again.py"
WAITING = "bot/approvals/test_waiting.py"
RUN = "bot/approvals/test_run.py"
AUDIT = "bot/approvals/test_audit.py"
POLICY = "bot/approvals/test_policy.py"
TERMS = "bot/approvals/test_terms.py"
BLOCKS = "bot/slack/test_blocks.py"
LISTENERS = "bot/slack/test_listeners.py"
OUTBOX = "bot/test_outbox.py"
SLOT = "agents/slot/test_approvals.py"

CASES: Mapping[str, tuple[str, ...]] = {
    # A no, or no answer, and it ran anyway.
    "mastra#20470 declining runs the tool": (f"{RUNS}::test_every_path_is_gated",),
    "mastra#20487 the rule is gone or another when it goes on": (
        f"{RUNS}::test_a_rule_that_changes_its_mind",
        f"{AGAIN}::test_a_policy_that_changed_before_the_start",
    ),
    "claude-agent-sdk#304 a minute without an answer runs it": (
        f"{WAITING}::test_waiting_is_no_answer",
    ),
    "bernstein#5051 a time-out is recorded as a yes": (
        f"{AUDIT}::test_nobody_decided_an_expired_request",
        f"{WAITING}::test_at_its_time_it_has_expired_and_nobody_said_no",
    ),
    "mastra#15776 the gate is lost on one of the ways to a tool": (
        f"{RUNS}::test_every_path_is_gated",
        f"{RUNS}::test_a_tool_of_an_agent_that_took_over",
        f"{RUNS}::test_a_hook_that_asks",
    ),
    "adk-go#876 it runs before the click": (f"{AGAIN}::test_the_start_is_in_the_audit",),
    "crewai human_feedback: an empty answer, or `not approved`, is a yes": (
        f"{RUNS}::test_words_decide_nothing",
        f"{DECIDES}::test_a_missing_value_is_told_at_the_click",
    ),
    # It ran twice, or was forgotten.
    "bugbug#6732, sentry#69252 each click acts": (
        f"{CLICKS}::test_five_clicks_of_several_people",
        f"{CLICKS}::test_the_same_click_from_the_network_again",
    ),
    "archestra#5327 two processes go on with the same call": (
        f"{PROCESSES}::test_two_processes_and_two_clicks_at_the_same_instant",
        f"{SLOT}::test_a_body_starts_once",
    ),
    "leviath#96 a batch runs again though most of it had ended": (
        "agents/test_interrupted.py::test_results_that_are_kept",
        "agents/test_interrupted.py::test_interrupted",
    ),
    "agent-framework#7458 the tool ran and the model fails": (
        f"{RUNS}::test_a_model_that_fails_after_the_run",
        "stories/test_a_gemini_client.py::test_the_reimbursement_over_gemini",
    ),
    "adk-python#5450 answering one long-running call starts the others": ("094",),
    "adk-python#6198 after the answer the whole chain starts over": ("204", "142"),
    "langgraph#6208, #7780 work before the question is done again": (
        "agents/test_precondition.py::test_work_before_the_ask_is_done_once",
    ),
    "capo#124 six cards for one wish, in other letters": (
        f"{TELLS}::test_a_call_that_looks_the_same",
        f"{TELLS}::test_calls_of_one_turn_that_look_the_same",
        f"{TELLS}::test_what_has_run_already",
        f"{RUN}::test_the_same_request_again",
        "bot/approvals/test_kin.py::test_what_looks_the_same",
    ),
    # One thing was approved, another one ran.
    "chrono-synth-os#407 another amount under the same approval, again and again": (
        f"{SLOT}::test_the_gate",
        f"{SLOT}::test_a_body_starts_once",
    ),
    "pydantic-ai#6968 a hook changes what was approved": ("147",),
    "mcp-hangar#673 what was hashed is compared with nothing": (
        f"{SLOT}::test_the_gate",
        f"{AGAIN}::test_a_build_that_changed_the_tool",
        f"{AGAIN}::test_a_tool_that_is_gone",
        f"{AGAIN}::test_a_policy_that_changed_before_the_start",
    ),
    "mastra#19633 an old card decides the newer request": (
        f"{CLICKS}::test_an_old_card_does_not_decide_the_new_request",
    ),
    "hermes-agent#82025 a button is about whatever is pending": (
        f"{CLICKS}::test_two_cards_of_one_thread_and_a_swapped_value",
        f"{CLICKS}::test_an_action_that_was_not_offered",
        f"{BAD}::test_a_button_that_fits_no_request_decides_nothing",
    ),
    "eve#758 the price is another one by now": (
        f"{TELLS}::test_what_a_call_rests_on",
        f"{TELLS}::test_what_a_call_rests_on_cannot_be_found_out",
        "agents/test_precondition.py::test_another_answer_asks_again",
    ),
    "adk-docs confirmation: any payload is taken": (
        f"{DECIDES}::test_a_wrong_value_is_told_at_the_click",
        f"{DECIDE}::test_wrong_values",
    ),
    "apple-mail-fast-mcp#442 a preview binds nothing": (
        "agents/test_precondition.py::test_the_body_acts_on_what_people_saw",
    ),
    # Forged, or by the wrong hands.
    "adk-js#755 a remote agent's words become a question": (
        f"{RUNS}::test_a_model_cannot_ask_or_answer_by_itself",
        "agents/test_calling.py::test_a_tool_that_a_model_invented",
    ),
    "vercel/ai#15947, #16068 both sides of an approval out of the client's history": (
        "agents/test_reports.py::test_a_forged_question",
        "agents/test_sessions.py::test_an_appended_answer_that_does_not_fit",
        f"{BAD}::test_the_button_of_another_session_decides_nothing",
    ),
    "mcp-hangar#665 the caller says who decided": (
        f"{CLICKS}::test_whom_a_body_names_is_not_who_clicked",
    ),
    "autogen#5891 nobody can say who approved": (f"{AUDIT}::test_who_did_what_can_be_read",),
    "curie#1054 a small team approves its own": (
        f"{SHOWS}::test_a_small_team_may_approve_its_own",
        f"{SHOWS}::test_nobody_approves_their_own_without_it",
        f"{AUDIT}::test_a_self_approval_is_marked",
    ),
    "hermes-agent#100408 a refused click, or the first after a restart, hears nothing": (
        f"{DECIDES}::test_a_stranger_to_the_decision_is_told_privately",
        f"{PROCESSES}::test_a_killed_bot_goes_on_where_it_was",
    ),
    # Waiting, expiring, old cards.
    "kirocrew#10231, agent-os#1597 a time-out is told as a no": (
        f"{SHOWS}::test_an_approval_has_its_own_time",
        f"{WAITING}::test_at_its_time_it_has_expired_and_nobody_said_no",
    ),
    "opencompany#1805 a week is over without a warning": (
        f"{WHO}::test_a_reminder_before_it_expires",
        f"{WHO}::test_others_take_over",
        f"{TERMS}::test_working_hours",
    ),
    "vigil#675, curie#1581 requests that nobody can ever answer": (
        f"{WHO}::test_nobody_left_is_told_at_once",
        f"{DECIDE}::test_a_request_without_approvers_is_closed",
        f"{DECIDE}::test_no_such_session",
        "bot/test_clock.py::test_a_request_of_a_session_that_is_gone_is_struck_off",
    ),
    "openclaw#98576, kirocrew#377 what was cancelled still has its buttons": (
        f"{CLICKS}::test_a_click_on_what_was_withdrawn",
        f"{CLICKS}::test_every_copy_loses_its_buttons",
    ),
    "curie#2885, deepagents#2947 after a no the model asks again at once": (
        f"{RUNS}::test_a_rejected_call_is_not_asked_about_again",
    ),
    "openai-agents#3359 the reason is dropped": (
        f"{DECIDES}::test_rejected_the_call_never_runs_and_the_reason_arrives",
        f"{RUNS}::test_a_rejected_call_is_not_asked_about_again",
    ),
    "ai#12709, eve#785 a message while it is pending": (f"{TELLS}::test_people_talk_on",),
    # Restart, deploy, scale.
    "praisonai#2326, opencompany#1816 a restart forgets": (
        f"{PROCESSES}::test_a_killed_bot_goes_on_where_it_was",
    ),
    "curie#2753, nautobot#7364 a release cannot read what an older one asked": (
        f"{AGAIN}::test_a_build_that_changed_the_tool",
        f"{AGAIN}::test_a_tool_that_is_gone",
        f"{AGAIN}::test_rolled_back_it_runs",
    ),
    "strands#3076, openai-agents-js#916 a question inside an agent that is a tool": (
        "agents/test_agent_tool.py::test_a_question_from_any_depth",
        "agents/test_properties.py::test_a_cut_changes_nothing",
    ),
    "a2a-python#1188 an old snapshot overwrites a newer one": (
        "agents/slot/test_turns.py::test_who_is_not_the_newest_writes_nothing",
    ),
    "adk-python discussion 6436: two messages at once": (
        "bot/test_worker.py::test_messages_are_answered_in_order",
        "agents/test_runner.py::test_two_runs_at_once",
    ),
    "trigger.dev#2295 decided, and still waiting": (
        "bot/test_clock.py::test_the_walk_wakes_a_session_whose_bell_was_lost",
        "bot/test_index.py::test_a_ring_survives_done",
    ),
    "convex agent#354 dozens of calls in one turn": (
        f"{WAITING}::test_two_hundred_calls_of_one_turn",
        f"{DECIDE}::test_a_click_reads_its_own_approval_only",
    ),
    # People and policy.
    "steward#205, awaithumans#76, nestjs-agentic#175 two of three, at once": (
        f"{DECIDE}::test_a_quorum_at_once",
        f"{DECIDE}::test_one_person_at_once",
        f"{WHO}::test_one_of_these_or_two_of_those",
    ),
    "dotCMS#14144 four eyes and only two of them": (f"{DECIDE}::test_quorum",),
    "agent-framework#4879, #6385 one gated call gates all": (
        f"{RUNS}::test_only_what_is_gated_is_asked_about",
    ),
    "langchainjs#10176 one no throws the others away": (
        f"{TELLS}::test_identical_calls_of_one_turn",
        f"{WAITING}::test_in_any_order",
    ),
    "opentag#23 asked four times, and no card says that it failed": (
        f"{TELLS}::test_another_try_after_a_failure",
        "bot/approvals/test_kin.py::test_another_try",
    ),
    "crewai#2051, #3259 whoever waits holds a worker, and needs a public address": (
        f"{DECIDE}::test_a_click_reads_its_own_approval_only",
        "stories/test_socket_mode.py::test_a_request_is_asked_and_answered_over_a_websocket",
    ),
    "adk-python#5049 people see what could not run": (
        f"{RUNS}::test_what_does_not_fit_asks_nobody",
        "129",
    ),
    # What people see.
    "openclaw#43687, deepagents#1694, cadis#732 characters that deceive": (
        f"{BLOCKS}::test_hidden_characters_are_spelled_out_with_a_warning",
        f"{SHOWS}::test_whatever_the_argument",
    ),
    "agent-secret#185 other fields deceive, too": (f"{BLOCKS}::test_nothing_untrusted_is_active",),
    "hermes-agent#78032 a token on the card": (
        f"{BLOCKS}::test_secrets_are_masked",
        f"{WHO}::test_a_secret_argument_is_shown_to_nobody",
    ),
    # Slack: clicks and races.
    "terraform-aws-sso-elevator#212, #47, bugbug#6898 two click at once": (
        f"{PROCESSES}::test_two_processes_and_two_clicks_at_the_same_instant",
        f"{DECIDES}::test_the_second_one_hears_who_was_first",
    ),
    "slack-approval#12 two requests under one action": (
        f"{CLICKS}::test_two_cards_of_one_thread_and_a_swapped_value",
    ),
    "openclaw#71023 the card says yes and nothing goes on": (
        f"{DECIDE}::test_approve",
        f"{RUN}::test_a_failed_call_is_told",
        f"{RUN}::test_an_approval_that_comes_too_late_to_run_is_void",
    ),
    "accessbot#223 too late, or in capitals": (
        f"{SHOWS}::test_an_approval_has_its_own_time",
        f"{WHO}::test_the_command_lists_shows_and_withdraws",
    ),
    # Slack: the state of a card.
    "curie#419 it expires, and the card does not say so": (
        f"{DECIDES}::test_nobody_answers_in_time",
    ),
    "terraform-aws-sso-elevator#26 whoever asked does not need it any more": (
        f"{DECIDES}::test_the_requester_can_withdraw",
        f"{DECIDES}::test_only_the_requester_can_withdraw",
    ),
    "activepieces#11665 a button that opens a browser": (f"{SHOWS}::test_whatever_the_argument",),
    "n8n#13144 approved, and asked again": (f"{TELLS}::test_identical_calls_of_one_turn",),
    "clawpatrol#594 nothing in the thread it was asked in": (
        f"{DECIDES}::test_the_thread_says_who_was_asked",
        f"{DECIDES}::test_the_card_goes_to_the_approvers",
    ),
    "vellum-assistant#20170 an old button": (f"{CLICKS}::test_a_card_that_kept_its_buttons",),
    # Slack: size and shape.
    "agno#8072 a long argument, and a post that fails": (
        f"{SHOWS}::test_whatever_the_argument",
        f"{SHOWS}::test_nowhere_to_post",
        f"{SHOWS}::test_slack_takes_it_later",
    ),
    "archestra#6000 a big file in a button": (
        f"{SHOWS}::test_whatever_the_argument",
        "bot/approvals/test_button.py::test_any_session_fits_on_a_button",
    ),
    "spacecat-api-service#176 26 choices": (
        f"{SHOWS}::test_a_choice_among_many",
        f"{SHOWS}::test_more_requests_than_a_list_can_show",
    ),
    "openclaw#66916 a command with quotes has no buttons": (
        f"{SHOWS}::test_whatever_the_argument",
    ),
    # Slack: who may decide.
    "teleport#4016, iam-identity-center-team#38 two of three": (
        f"{LISTENERS}::test_one_of_two",
        f"{DECIDE}::test_quorum",
        f"{TERMS}::test_how_many_rejections_close_it",
    ),
    "n8n#34123 anybody who has the link": (
        f"{CLICKS}::test_whom_a_body_names_is_not_who_clicked",
        f"{BAD}::test_a_forged_request_changes_nothing",
    ),
    "openclaw#120874 the same id in another workspace": (
        f"{CLICKS}::test_another_team_with_the_same_ids",
        f"{LISTENERS}::test_another_company_cannot_decide",
    ),
    "terraform-aws-sso-elevator#129 who may approve is pinged": (
        f"{SHOWS}::test_who_may_decide_and_is_not_told",
    ),
    "accessbot#2 nobody is there at night": (
        f"{TELLS}::test_an_operator_decides_in_place_of_those_asked",
    ),
    # Slack: telling people.
    "teleport-plugins#153 who decided, and when": (
        f"{BLOCKS}::test_a_closed_card_says_what_became_of_it",
    ),
    "teleport#32620, teleport-plugins#402 whoever asked hears nothing": (
        f"{DECIDES}::test_approved_the_call_runs",
        f"{DECIDES}::test_nobody_answers_in_time",
    ),
    "iam-identity-center-team#191, clawpatrol#595 the other copies": (
        f"{CLICKS}::test_every_copy_loses_its_buttons",
    ),
    "integrations/slack#1347 what would change": (f"{TELLS}::test_what_a_call_rests_on",),
    # Slack: time.
    "hoop#883, kimi-cli#1823 how long it waits": (
        f"{WAITING}::test_waiting_is_no_answer",
        f"{POLICY}::test_deadline",
        f"{RUNS}::test_the_longest_time_a_policy_allows",
    ),
    "accessbot#30 it acts when a timer ends": (f"{DECIDES}::test_a_click_decides_at_once",),
    "accessbot#283 for a whole year": (f"{RUNS}::test_the_longest_time_a_policy_allows",),
    # Slack: safety.
    "infrabroker#239, hermes-agent#26869 links and broadcasts in arguments": (
        f"{BLOCKS}::test_nothing_untrusted_is_active",
        f"{BLOCKS}::test_answer_is_inactive",
        f"{SHOWS}::test_whatever_the_argument",
    ),
    "sentry#48048 escaped twice": ("bot/slack/test_text.py::test_escaped_once",),
    # Slack: delivery.
    "bolt-python#1027 a slow model answers several times": (
        "stories/test_where_it_answers.py::test_a_mention_is_one_message_though_slack_tells_it_twice",
        "agents/slot/test_inbox.py::test_a_consumed_entry_stays_known",
    ),
    "vercel/chat#671, #607, #637, tiger-agents#297 a long call while text streams": (
        "agents/test_runner.py::test_streaming",
        "agents/test_held.py::test_the_lease_is_renewed",
    ),
    "accessbot#264 the approvers' channel is archived": (
        f"{BAD}::test_a_card_that_cannot_be_posted_is_asked_in_the_thread",
        f"{OUTBOX}::test_a_card_that_has_no_place_is_put_into_the_thread",
    ),
    "ai-platform-engineering#1375 Slack is only a view": (
        f"{SHOWS}::test_nowhere_to_post",
        f"{OUTBOX}::test_a_crash_after_the_post_does_not_repeat_it",
    ),
    # More.
    "eve#531 answering one takes the other's buttons": (
        f"{WAITING}::test_in_any_order",
        f"{CLICKS}::test_two_cards_of_one_thread_and_a_swapped_value",
    ),
    "netclaw#587 a watchdog ends what waits": (f"{WAITING}::test_waiting_is_no_answer",),
    "agno#7574 a choice is asked for as text": (
        f"{BLOCKS}::test_inputs",
        f"{SHOWS}::test_a_choice_among_many",
    ),
    "n8n#34225 the note comes with each repetition": (
        f"{CLICKS}::test_a_refused_click_that_comes_again_is_told_once",
    ),
    "CopilotKit#6523 what was typed does not arrive": (
        f"{DECIDES}::test_what_was_filled_in_is_what_the_agent_gets",
        f"{LISTENERS}::test_values_are_read_at_the_click",
    ),
    "adk-python#6732, ag-ui#1935 calls and answers do not match": (
        f"{RUNS}::test_only_what_is_gated_is_asked_about",
        "agents/test_compaction.py::test_any_window_of_any_session_is_in_order",
    ),
    "adk-python#5064 other ids while streaming": (
        "agents/test_runner.py::test_ids_while_streaming",
    ),
    "eve#142 a second person in the thread": (
        f"{RUN}::test_another_person_in_the_thread_asks_for_themselves",
    ),
    "parity-dynatrace#5 nothing ever expires it": (f"{DECIDES}::test_nobody_answers_in_time",),
    "adk-docs#881 the answer is not found when text is beside it": (
        "agents/test_programs.py::test_human_in_the_loop",
    ),
}

LATER: Mapping[str, str] = {
    "langchain#40166 the reviewer makes another call of it": (
        "People cannot change a call yet; they reject it with a reason, and the model asks anew."
    ),
    "obot#5696, vscode#289019 `allow all` frees one of five": "No decision is remembered.",
    "opencode#9554, praisonai#2619 `always` is too wide": "No decision is remembered.",
    "documenso#3087, powercat-approvals#202, timeoff#202 an approver on leave": (
        "Nobody can name a delegate yet; others take over after a part of the time."
    ),
}
