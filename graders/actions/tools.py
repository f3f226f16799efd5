"""The table from tools to actions: coding agents, MCP servers, agent frameworks. Data.

A name is compared without case and separators (`str_replace_editor`, `StrReplaceEditor`). Names that any agent may
use (`read`, `edit`, `query`) count only where the arguments look the part.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from graders.actions.action import Kind
from graders.words import words


class Tool(Struct, frozen=True):
    """What a tool does. `needs` are arguments of which one must be there, if arguments were captured at all."""

    kinds: tuple[Kind, ...]
    needs: frozenset[str] = frozenset()


_PATHS = (
    "file_path path filePath file filename file_name target_file notebook_path absolute_path relative_workspace_path"
)
PATH_KEYS = frozenset((
    *_PATHS.split(),
    "TargetFile", "AbsolutePath", "relativePath", "relative_path", "filepath", "target_notebook", "uri", "fileUri",
    "destination", "destination_path", "new_path", "dest", "source", "source_path", "old_path",
))  # fmt: skip
LIST_KEYS = words("paths file_paths files filePaths edits replacements operations changes include")
_FILE = PATH_KEYS | LIST_KEYS | {"patch", "diff", "patchText", "patch_text"}
_SQL = words("sql query statement queries")
SQL_KEYS = ("sql", "query", "statement", "queries", "input")
PATCH_KEYS = ("patch", "input", "patchText", "patch_text", "diff", "text", "content", "changes", "arguments")


def normal(name: str) -> str:
    """The form in which tool names are compared."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _rows(kinds: tuple[Kind, ...], names: str, needs: Iterable[str] = ()) -> dict[str, Tool]:
    tool = Tool(kinds, frozenset(needs))
    return {normal(name): tool for name in names.split()}


TOOLS: dict[str, Tool] = {
    # Files changed. The general names need a path.
    **_rows(("edit",), "Write Edit create replace update insert append put patch modify save overwrite", _FILE),
    **_rows(
        ("edit",),
        """MultiEdit NotebookEdit edit_file write_file create_file apply_patch search_replace str_replace StrReplace
        replace_in_file write_to_file apply_diff insert_content search_and_replace replace_file_content
        multi_replace_file_content insert_edit_into_file replace_string_in_file multi_replace_string_in_file
        edit_notebook_file create_new_file edit_existing_file single_find_and_replace EditNotebook ApplyPatch
        fs_append
        fsAppend fsReplace undo_edit file_write save_file str-replace-editor-insert edit_anthropic edit_replace
        copy_file write_files write_file_content create_text_file replace_regex replace_symbol_body
        insert_after_symbol
        insert_before_symbol replace_lines insert_at_line delete_lines replace_content rename_symbol edit_block
        write_pdf reapply edit_notebook notebook_edit create_notebook copilot_createFile copilot_insertEdit
        copilot_replaceString copilot_multiReplaceString copilot_applyPatch copilot_editNotebook
        builtin_edit_existing_file
        builtin_create_new_file patch_file file_edit write_code update_file modify_file append_to_file append_file
        create_or_update_file""",
    ),
    **_rows(("edit", "delete"), "move_file rename_file"),
    **_rows(("delete",), "delete_file remove_file remove-files delete_files file_delete Delete_File deleteFile", ()),
    **_rows(("delete",), "Delete remove", _FILE),
    # Files read.
    **_rows(("read",), "Read View open cat load", _FILE),
    **_rows(
        ("read",),
        """read_file read_files read_text_file read_media_file read_multiple_files read_many_files NotebookRead
        view_file view_file_outline view_code_item view_line_range open_file get_file_contents file_read read_notebook
        copilot_readFile builtin_read_file fsRead view_image read_file_content get_symbols_overview readFile
        read_currently_open_file""",
    ),
    # Tests run by a tool of their own.
    **_rows(("test_run",), "runTests run_tests copilot_runTests run_test test_run execute_tests test_sim test_device"),
    # The network.
    **_rows(
        ("network",),
        """WebFetch WebSearch web_fetch web_search google_web_search webfetch websearch fetch_webpage fetch_url
        read_url_content search_web browser_navigate browser_action browser_click browser_type navigate_page new_page
        puppeteer_navigate playwright_navigate brave_web_search brave_local_search firecrawl_scrape firecrawl_search
        firecrawl_crawl tavily_search tavily_extract exa_search web_search_exa crawling_exa http_request requests_get
        requests_post requests_put requests_delete requests_patch visit_webpage duckduckgo_search DuckDuckGoSearch
        serper_search google_search perplexity_ask perplexity_search url_context web_search_preview fetch_content
        download_file http_get http_post http_fetch codesearch copilot_fetchWebPage open_browser_page""",
    ),
    **_rows(("network",), "fetch browser browse navigate goto_url download", words("url urls uri query q action code")),
    # Version control, local and hosted.
    **_rows(
        ("vcs",),
        """git_commit git_add git_status git_diff git_diff_staged git_diff_unstaged git_log git_show git_branch
        git_create_branch git_init git_reset get_changed_files copilot_getChangedFiles git_tag""",
    ),
    **_rows(("vcs", "edit"), "git_checkout git_stash git_merge git_rebase git_pull git_apply git_revert"),
    **_rows(
        ("vcs", "network"),
        """git_push git_fetch git_clone create_branch create_pull_request update_pull_request merge_pull_request
        create_repository fork_repository list_commits list_branches get_pull_request list_pull_requests
        pull_request_read get_pull_request_files get_pull_request_diff get_commit list_issues get_issue issue_read
        search_code search_repositories search_issues update_pull_request_branch list_tags create_merge_request
        get_merge_request list_merge_requests create_pull_request_with_copilot get_pull_request_status
        list_workflow_runs""",
    ),
    **_rows(("vcs", "network", "edit"), "push_files"),
    # Messages to people.
    **_rows(
        ("message_send",),
        """send_email send_mail send_message send_sms send_slack_message slack_post_message slack_reply_to_thread
        post_message chat_postMessage conversations_add_message gmail_send_email gmail_send sendEmail reply_to_email
        send_gmail_message GmailSendMessage draft_and_send send_teams_message teams_send_message discord_send_message
        send_discord_message telegram_send_message send_whatsapp_message whatsapp_send_message notify_user
        send_notification
        send_push_notification add_issue_comment issue_write create_issue add_comment_to_pending_review
        create_pending_pull_request_review submit_pending_pull_request_review create_pull_request_review
        pull_request_review_write add_comment jira_add_comment create_jira_issue linear_create_comment post_tweet
        create_tweet send_invitation send_certificate send_sms_message twilio_send_sms send_telegram_message""",
    ),
    # Money.
    **_rows(
        ("payment",),
        """create_payment create_payment_intent confirm_payment_intent capture_payment_intent create_refund
        refund_payment process_payment make_payment charge_card create_charge create_payment_link
        create_invoice finalize_invoice
        pay_invoice create_payout create_transfer transfer_funds send_payment send_money issue_refund refund_order
        process_refund refund create_subscription cancel_subscription paypal_create_order pay_order capture_order
        create_checkout_session transfer_money make_purchase schedule_transaction create_order_payment pay_bill
        stripe_create_refund wire_transfer""",
    ),
    # Questions to the user.
    **_rows(
        ("ask_user",),
        """AskUserQuestion ask_followup_question ask_user request_user_input ask_question ask_human human_input
        ask_user_question get_user_input AskHuman user_input elicit clarify_with_user request_confirmation
        confirm_with_user
        ask_for_approval request_approval vscode_askQuestions""",
    ),
    **_rows(("ask_user",), "question ask human", words("question questions prompt message query header")),
    # Databases: read or write is decided by the statement.
    **_rows(
        ("sql_read",),
        """read_query write_query execute_sql run_sql run_query sql_query execute_query query_database sql_db_query
        run_select_query execute_statement bigquery_query run_sql_query mysql_query postgres_query query_sql
        sqlite_query
        execute_read_query execute_write_query snowflake_query run_bigquery apply_migration duckdb_query""",
    ),
    **_rows(("sql_read",), "query sql execute database", words("sql statement query")),
    **_rows(("sql_read",), "list_tables describe_table sql_db_schema sql_db_list_tables get_schema"),
    **_rows(("sql_write",), "create_table drop_table insert_row insert_rows update_row delete_row"),
    **_rows(
        ("install",),
        """install_package install_packages pip_install npm_install install_dependencies install_extension
        copilot_installExtension""",
    ),
}  # fmt: skip

# Tools that run a command line, and the argument that holds it.
SHELLS = frozenset(
    normal(name)
    for name in words(
        """Bash shell exec_command local_shell local_shell_call run_shell_command run_terminal_cmd run_in_terminal
        execute_command run_command execute_bash executeBash executePwsh powershell terminal Shell bash_tool
        run_terminal_command builtin_run_terminal_command launch-process developer__shell container.exec unified_exec
        execute_shell shell_command run_bash bash_command sh run_shell exec execute_shell_command run_bash_command
        launch_process start_process run_script interpreter_shell cmd runInTerminal2 copilot_runInTerminal
        desktop_commander_execute run_terminal write_bash ssh_exec sandbox_exec execute_cmd bash_code_execution
        process_run terminal_execute system_shell run_cmd"""
    )
)
COMMAND_KEYS = (
    "command",
    "cmd",
    "commands",
    "CommandLine",
    "command_line",
    "commandLine",
    "script",
    "code",
    "shell_command",
    "input",
    "action",
    "args",
)
FOLDER_KEYS = (
    "workdir",
    "cwd",
    "working_directory",
    "directory",
    "Cwd",
    "dir_path",
    "workingDirectory",
    "working_dir",
    "path",
)
# Tools that run code of a language: what it writes is read from the text.
INTERPRETERS = frozenset(
    normal(name)
    for name in words(
        """execute_ipython_cell ipython python_repl PythonREPL python_interpreter code_interpreter execute_python
        run_python python_execute run_python_code execute_code run_code code_execution js_repl execute_javascript
        run_notebook_cell copilot_runNotebookCell"""
    )
)
CODE_KEYS = ("code", "python_code", "source", "script", "query", "__arg1", "input", "command")
# Tools with a verb of their own in an argument: `command: view` reads, `command: create` edits.
EDITORS = frozenset(
    normal(name)
    for name in words(
        """str_replace_editor str_replace_based_edit_tool text_editor developer__text_editor file_editor editor
        fs_write fs_read str-replace-editor textEditor text_editor_20250124 fsWrite memory_editor"""
    )
)
EDITOR_VERBS: dict[str, Kind] = {
    "view": "read", "read": "read", "line": "read", "search": "read", "directory": "read", "create": "edit",
    "write": "edit",
    "str_replace": "edit", "insert": "edit", "append": "edit", "undo_edit": "edit", "replace": "edit",
    "delete": "delete",
    "find_line": "read", "pattern_replace": "edit", "edit_file": "edit",
}  # fmt: skip
