//! Subagents, skills, MCP servers, messages and schedules.

use super::declare;

declare! { AGENT_ATTRIBUTES
    /// Names the activity: delegation, agent_step, message, handoff, skill_use, mcp_call or schedule.
    ACTIVITY_TYPE = "activityType": String, Metadata, [CALLS];
    /// Names the subagent, by the agent's id.
    AGENT_ID = "agentId": String, Metadata, [EVENTS, TASK];
    /// Names the type of the agent; the main agent is main.
    AGENT_TYPE = "agentType": String, Metadata, [EVENTS, TASK];
    /// Names the type that the main agent runs as.
    MAIN_AGENT_TYPE = "mainAgentType": String, Metadata, [EVENTS, TASK];
    /// Names the agent that is called.
    AGENT_NAME = "agentName": String, Metadata, [CALLS, TASK];
    /// Holds the description of the work that is handed over.
    AGENT_DESCRIPTION = "agentDescription": Text, Actions, [CALLS];
    /// Names the model that the agent is asked to run with.
    AGENT_MODEL = "agentModel": String, Metadata, [CALLS, TASK];
    /// Names the model that the agent did run with.
    AGENT_RESOLVED_MODEL = "agentResolvedModel": String, Metadata, [CALLS, ACTION_LOGGED];
    /// Names the reasoning effort that the agent is asked for.
    AGENT_EFFORT = "agentEffort": String, Metadata, [CALLS];
    /// Marks an agent that runs beside the turn.
    AGENT_RUN_IN_BACKGROUND = "agentRunInBackground": Boolean, Metadata, [CALLS];
    /// Names the permission mode of the agent.
    AGENT_PERMISSION_MODE = "agentPermissionMode": String, Metadata, [CALLS];
    /// Names the task that is handed over.
    AGENT_TASK_NAME = "agentTaskName": String, Metadata, [CALLS];
    /// Names the agent that a message or a request goes to.
    AGENT_TARGET = "agentTarget": String, Metadata, [CALLS];
    /// Lists the agents that are waited for.
    AGENT_IDS = "agentIds": List, Metadata, [CALLS];
    /// Names the place that the agent's definition comes from.
    AGENT_SOURCE = "agentSource": String, Metadata, [ACTION_LOGGED];
    /// Holds the nickname of the agent.
    AGENT_NICKNAME = "agentNickname": String, Metadata, [ACTION_LOGGED, TASK];
    /// Holds the path of the agent among its ancestors.
    AGENT_PATH = "agentPath": String, Metadata, [ACTION_LOGGED, TASK];
    /// Holds the path of the subagent's transcript.
    AGENT_TRANSCRIPT_PATH = "agentTranscriptPath": String, Metadata, [ASSISTANT_RESPONSE, CONTEXT_SAVED];
    /// Names the isolation of the agent, such as worktree.
    ISOLATION = "isolation": String, Metadata, [CALLS];
    /// Names the subagent that the call started or talked to.
    CHILD_AGENT_ID = "childAgentId": String, Metadata, [CALLS];
    /// Holds the nickname of that subagent.
    CHILD_NICKNAME = "childNickname": String, Metadata, [CALLS];
    /// Names the task of that subagent.
    CHILD_TASK_NAME = "childTaskName": String, Metadata, [CALLS];
    /// Names the virtual session of the subagent.
    CHILD_SESSION = "childSession": String, Metadata, [ACTION_LOGGED];
    /// Names the subagent's task on the parent's row.
    ASYNC_TASK_ID = "asyncTaskId": String, Metadata, [ACTION_LOGGED];
    /// Holds the state of the subagent: running, completed or failed.
    ASYNC_STATUS = "asyncStatus": String, Metadata, [ACTION_LOGGED, CONTEXT_SAVED];
    /// Measures how long the subagent ran.
    TOTAL_DURATION_MS = "totalDurationMs": Number(Milliseconds), Metadata, [CALLS, ACTION_LOGGED];
    /// Counts the subagent's tool calls.
    TOTAL_TOOL_USE_COUNT = "totalToolUseCount": Integer(Items), Metadata, [CALLS, ACTION_LOGGED];
    /// Names the call that started the subagent.
    PARENT_TOOL_USE_ID = "parentToolUseId": String, Metadata, [ACTION_LOGGED, TASK];
    /// Names the type of the agent that the subagent started as.
    SPAWNED_AGENT_TYPE = "spawnedAgentType": String, Metadata, [TASK];
    /// Names the kind of task that the client keeps the subagent as.
    TASK_KIND = "taskKind": String, Metadata, [TASK];
    /// Names the form in which the subagent was requested.
    REQUEST_SHAPE = "requestShape": String, Metadata, [TASK];
    /// Marks a type of agent that comes with the client.
    IS_BUILT_IN = "isBuiltIn": Boolean, Metadata, [TASK];
    /// Marks a subagent that the client keeps as finished.
    FINISHED = "finished": Boolean, Metadata, [TASK];
    /// Counts the levels between the subagent and the main agent.
    DEPTH = "depth": Integer, Metadata, [TASK];
    /// Names the team.
    TEAM_NAME = "teamName": String, Metadata, [CALLS, TEAMMATE_IDLE, TASK];
    /// Names the teammate.
    TEAMMATE_NAME = "teammateName": String, Metadata, [CALLS, TEAMMATE_IDLE];
    /// Holds the sender's summary of a message.
    MESSAGE_SUMMARY = "messageSummary": Text, Actions, [CALLS];
    /// Names the type of a message.
    MESSAGE_TYPE = "messageType": String, Metadata, [CALLS];
    /// Marks a message that interrupts its receiver.
    INTERRUPT = "interrupt": Boolean, Metadata, [CALLS];
    /// Names the sender of a message.
    FROM = "from": String, Metadata, [AGENT_ACTIVITY_LOGGED];
    /// Names the receiver of a message.
    TO = "to": String, Metadata, [AGENT_ACTIVITY_LOGGED];
    /// Names the workflow.
    WORKFLOW_NAME = "workflowName": String, Metadata, [CALLS];
    /// Holds the description of the workflow.
    WORKFLOW_DESCRIPTION = "workflowDescription": Text, Actions, [CALLS];
    /// Names the run that the workflow goes on from.
    WORKFLOW_RESUMED_FROM = "workflowResumedFrom": String, Metadata, [CALLS];
    /// Names the skill or command that was activated.
    SKILL_NAME = "skillName": String, Metadata, [CALLS, USER_MESSAGE, USER_PROMPT_EXPANSION];
    /// Names the way of activation: tool or read.
    SKILL_ACTIVATION = "skillActivation": String, Metadata, [CALLS];
    /// Holds the arguments of the skill.
    SKILL_ARGS = "skillArgs": Text, Actions, [CALLS];
    /// Holds the folder of the skill.
    SKILL_PATH = "skillPath": String, Metadata, [CALLS, USER_PROMPT_EXPANSION, CONTEXT_SAVED];
    /// Names the place that the skill comes from.
    SKILL_SOURCE = "skillSource": String, Metadata, [CALLS];
    /// Names what activated the skill, by the agent's telemetry.
    SKILL_TRIGGER = "skillTrigger": String, Metadata, [CALLS];
    /// Names the MCP server.
    MCP_SERVER = "mcpServer": String, Metadata, [CALLS, CONTEXT_SAVED, RULE_LOGGED, PERMISSION_REQUEST];
    /// Lists the MCP servers that are waited for.
    MCP_SERVERS = "mcpServers": List, Metadata, [CALLS];
    /// Names the scope that configures the MCP server.
    MCP_SERVER_SOURCE = "mcpServerSource": String, Metadata, [CALLS, CONTEXT_SAVED, RULE_LOGGED];
    /// Names the tool of the MCP server.
    MCP_TOOL = "mcpTool": String, Metadata, [CALLS];
    /// Holds the address of a resource of an MCP server.
    MCP_RESOURCE = "mcpResource": String, Metadata, [CALLS];
    /// Names the transport of an MCP server.
    TRANSPORT = "transport": String, Metadata, [CONTEXT_SAVED];
    /// Holds the schedule in cron syntax.
    CRON = "cron": Text, Actions, [CALLS];
    /// Names the schedule.
    ID = "id": String, Metadata, [CALLS];
    /// Marks a schedule that repeats.
    RECURRING = "recurring": Boolean, Metadata, [CALLS];
    /// Marks a schedule that outlives the session.
    DURABLE = "durable": Boolean, Metadata, [CALLS];
    /// Measures the time until the next wake-up.
    DELAY_SECONDS = "delaySeconds": Number(Seconds), Metadata, [CALLS];
    /// Marks the end of a loop of wake-ups.
    STOP = "stop": Boolean, Metadata, [CALLS];
    /// Names the action on a remote trigger.
    TRIGGER_ACTION = "triggerAction": String, Metadata, [CALLS];
    /// Names the remote trigger.
    TRIGGER_ID = "triggerId": String, Metadata, [CALLS];
}
