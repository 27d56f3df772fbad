//! Work items, plans, goals, reviews and worktrees.

use super::declare;

declare! { TODO_ATTRIBUTES
    /// Names the work item: the agent's id, else a hash of its subject.
    TODO_ID = "todoId": Open, Metadata, [CALLS];
    /// Holds the state: added, in_progress, completed or cancelled.
    TODO_STATE = "todoState": String, Metadata, [CALLS];
    /// Holds the subject of the work item.
    SUBJECT = "subject": Text, Actions, [CALLS];
    /// Holds the subject in the form shown while work goes on.
    ACTIVE_FORM = "activeForm": Text, Actions, [CALLS];
    /// Names the agent that the work item is assigned to.
    OWNER = "owner": String, Metadata, [CALLS];
    /// Holds the priority of the work item.
    PRIORITY = "priority": String, Metadata, [CALLS];
    /// Holds the state of the work item before the call.
    STATUS_FROM = "statusFrom": String, Metadata, [CALLS];
    /// Holds the state of the work item after the call.
    STATUS_TO = "statusTo": String, Metadata, [CALLS];
    /// Marks a completion that a rule did not allow.
    BLOCKED = "blocked": Boolean, Metadata, [TODO_LOGGED];
    /// Counts the items: todos, plan steps, findings, calls of a batch or turns taken back.
    ITEM_COUNT = "itemCount": Integer(Items), Metadata, [CALLS];
    /// Measures a plan whose text is not kept.
    PLAN_BYTES = "planBytes": Integer(Bytes), Metadata, [PLAN_LOGGED];
    /// Holds the explanation of a change of plan.
    PLAN_EXPLANATION = "planExplanation": Text, Actions, [CALLS];
    /// Counts the permissions that the plan asks for.
    ALLOWED_PROMPT_COUNT = "allowedPromptCount": Integer(Items), Metadata, [CALLS];
    /// Holds the state of the goal.
    GOAL_STATUS = "goalStatus": String, Metadata, [CALLS];
    /// Names the level of the review.
    REVIEW_LEVEL = "reviewLevel": String, Metadata, [CALLS];
    /// Names the target of the review.
    REVIEW_TARGET = "reviewTarget": String, Metadata, [CONTEXT_SAVED];
    /// Holds the reviewer's confidence between 0 and 1.
    REVIEW_CONFIDENCE = "reviewConfidence": Number, Metadata, [CONTEXT_SAVED];
    /// Names the worktree.
    WORKTREE_NAME = "worktreeName": String, Metadata, [CALLS, TASK];
    /// Holds the path of the worktree.
    WORKTREE_PATH = "worktreePath": String, Metadata, [CALLS, TASK];
    /// Names the branch of the worktree.
    WORKTREE_BRANCH = "worktreeBranch": String, Metadata, [CALLS, TASK];
    /// Names the action on leaving the worktree: keep or remove.
    WORKTREE_ACTION = "worktreeAction": String, Metadata, [CALLS];
    /// Marks a removal that may discard changes.
    DISCARD_CHANGES = "discardChanges": Boolean, Metadata, [CALLS];
    /// Counts the changed files that were discarded.
    DISCARDED_FILES = "discardedFiles": Integer(Items), Metadata, [CALLS];
    /// Counts the commits that were discarded.
    DISCARDED_COMMITS = "discardedCommits": Integer(Items), Metadata, [CALLS];
    /// Holds the working directory before the worktree was entered.
    ORIGINAL_CWD = "originalCwd": String, Metadata, [TASK];
    /// Names the branch before the worktree was entered.
    ORIGINAL_BRANCH = "originalBranch": String, Metadata, [TASK];
}
