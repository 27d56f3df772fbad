//! Permission requests, denials and decisions of rules.

use super::declare;

declare! { PERMISSION_ATTRIBUTES
    /// Names the permission mode.
    PERMISSION_MODE = "permissionMode": String, Metadata, [EVENTS, TASK];
    /// Names the permission mode before the change.
    FROM_PERMISSION_MODE = "fromPermissionMode": String, Metadata, [CONTEXT_SAVED];
    /// Names what changed the permission mode.
    CHANGED_BY = "changedBy": String, Metadata, [CONTEXT_SAVED];
    /// Holds the decision on the call.
    PERMISSION_DECISION = "permissionDecision": String, Metadata, [CALLS, RULE_LOGGED];
    /// Names the source of the decision: config, hook, user and others.
    PERMISSION_SOURCE = "permissionSource": String, Metadata, [CALLS];
    /// Names the type of reason of the decision.
    PERMISSION_REASON = "permissionReason": String, Metadata, [CALLS];
    /// Holds the code of the reason.
    PERMISSION_REASON_CODE = "permissionReasonCode": String, Metadata, [CALLS];
    /// Names the settings that hold the deciding rule.
    PERMISSION_RULE_SOURCE = "permissionRuleSource": String, Metadata, [CALLS];
    /// Names the scope that the permission was granted for.
    PERMISSION_GRANT_SCOPE = "permissionGrantScope": String, Metadata, [CALLS];
    /// Names the kind of denial.
    DENIAL_KIND = "denialKind": String, Metadata, [CALLS];
    /// Marks a call that was denied before it ran.
    DENIED_BEFORE_RUN = "deniedBeforeRun": Boolean, Metadata, [CALLS];
    /// Names the rule of the user's policy that denied the call.
    DENIED_BY_RULE = "deniedByRule": String, Metadata, [CALLS];
    /// Names the event by which the user refused the call; set by the ledger.
    REFUSED_BY = "refusedBy": String, Metadata, [CALLS];
    /// Holds the input of the call on one line, at most 400 characters.
    TOOL_INPUT_SUMMARY = "toolInputSummary": String, Metadata, [PERMISSION_REQUEST, RULE_LOGGED];
    /// Counts the permission rules that the agent suggests.
    SUGGESTION_COUNT = "suggestionCount": Integer(Items), Metadata, [PERMISSION_REQUEST];
    /// Holds the title of the call that permission is asked for.
    REQUESTED_TITLE = "requestedTitle": String, Metadata, [PERMISSION_REQUEST, RULE_LOGGED];
    /// Holds the user's decision, joined from the call; of a hook, the hook's decision.
    DECISION = "decision": String, Metadata, [PERMISSION_REQUEST, RULE_LOGGED];
    /// Measures the time from the request to the decision or answer; set by the ledger.
    WAIT_MS = "waitMs": Integer(Milliseconds), Metadata, [PERMISSION_REQUEST, RULE_LOGGED, QUESTION_LOGGED];
    /// Holds the state of the decision: requested, decided, allowed, denied, enforced, dry_run, held_back or let_go.
    RULE_STATUS = "ruleStatus": String, Metadata, [RULE_LOGGED];
    /// Holds the outcome: allow, deny, ask, rewrite, warn, block_stop, auto_deny or observed.
    RULE_OUTCOME = "ruleOutcome": String, Metadata, [RULE_LOGGED];
    /// Names the authority that decided: agent_tracer, auto_mode_classifier, user_hook, codex_permission and others.
    RULE_POLICY = "rulePolicy": String, Metadata, [RULE_LOGGED];
    /// Names the rule.
    RULE_ID = "ruleId": String, Metadata, [RULE_LOGGED];
    /// Names the file of the rule: user or project.
    RULE_SOURCE = "ruleSource": String, Metadata, [RULE_LOGGED];
    /// Holds the project whose rules contain the rule.
    RULE_PROJECT = "ruleProject": String, Metadata, [RULE_LOGGED];
    /// Holds the decision that the rule asks for.
    RULE_DECISION = "ruleDecision": String, Metadata, [RULE_LOGGED];
    /// Names the reason that the rule had effect: applies or outage.
    RULE_BASIS = "ruleBasis": String, Metadata, [RULE_LOGGED];
    /// Holds the severity of the rule.
    SEVERITY = "severity": String, Metadata, [RULE_LOGGED];
    /// Names the program that answered the hook.
    ANSWERED_BY = "answeredBy": String, Metadata, [RULE_LOGGED];
    /// Measures how long the decision took.
    DECISION_US = "decisionUs": Integer(Microseconds), Metadata, [RULE_LOGGED];
    /// Measures how long the hook waited for the decision.
    DECISION_WAIT_US = "decisionWaitUs": Integer(Microseconds), Metadata, [RULE_LOGGED];
    /// Measures how long the history was searched for the decision.
    DECISION_LOOK_US = "decisionLookUs": Integer(Microseconds), Metadata, [RULE_LOGGED];
    /// Holds the reason that the agent gives.
    REASON = "reason": Text, Metadata,
        [CALLS, RULE_LOGGED, SESSION_ENDED, TURN_INTERRUPTED, PERMISSION_REQUEST];
    /// Names the user's hook.
    HOOK_NAME = "hookName": String, Metadata, [RULE_LOGGED, CONTEXT_SAVED];
    /// Names the event of the user's hook.
    HOOK_EVENT = "hookEvent": String, Metadata, [RULE_LOGGED, CONTEXT_SAVED];
    /// Names the run of the user's hook.
    HOOK_RUN_ID = "hookRunId": String, Metadata, [CONTEXT_SAVED];
    /// Names the way in which a prompt was refused.
    ENDING_KIND = "endingKind": String, Metadata, [RULE_LOGGED];
}
