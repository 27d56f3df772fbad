/** Generated from `crates/server/openapi.json` by `npm run types`. */
export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description What happened in one stretch of time. */
        ActivityBucket: {
            /**
             * Format: date-time
             * @description Where the stretch begins.
             */
            at: string;
            /**
             * Format: double
             * @description What it cost.
             */
            costUsd: number;
            /**
             * Format: int64
             * @description Rows.
             */
            events: number;
            /**
             * Format: int64
             * @description Tool calls that failed.
             */
            failures: number;
            /**
             * Format: int64
             * @description Input tokens, caches included.
             */
            inputTokens: number;
            /**
             * Format: int64
             * @description Output tokens.
             */
            outputTokens: number;
            /**
             * Format: int64
             * @description Tool calls.
             */
            toolCalls: number;
            /**
             * Format: int64
             * @description Time spent in tool calls.
             */
            toolMs: number;
            /**
             * Format: int64
             * @description Time in which people were waited for.
             */
            waitingMs: number;
        };
        /** @description A part of a list, and where the next part begins. */
        ActivityBucketPage: {
            /** @description The items of this part, in the list's order. */
            items: components["schemas"]["ActivityBucket"][];
            /** @description Give this as `cursor` to get the next part. Absent at the end. */
            nextCursor?: string;
        };
        /** @description A type of agent over many tasks. */
        AgentStat: {
            /** @description The type, `main` for the main agent. */
            agentType: string;
            /**
             * Format: int64
             * @description Tool calls that failed.
             */
            failures: number;
            /**
             * Format: int64
             * @description How long they ran, each from its first event to its last, whatever part of that is in the range.
             */
            runMs: number;
            /**
             * Format: int64
             * @description Tasks.
             */
            tasks: number;
            /**
             * Format: int64
             * @description Tool calls.
             */
            toolCalls: number;
            /**
             * Format: int64
             * @description Time in their tool calls.
             */
            toolMs: number;
            /** @description What they spent. */
            usage: components["schemas"]["UsageView"];
        };
        /** @description A part of a list, and where the next part begins. */
        AgentStatPage: {
            /** @description The items of this part, in the list's order. */
            items: components["schemas"]["AgentStat"][];
            /** @description Give this as `cursor` to get the next part. Absent at the end. */
            nextCursor?: string;
        };
        /** @description A task that waits for a person. */
        Attention: {
            /** @description The agent. */
            agent: string;
            /** @description Its agent's type. */
            agentType: string;
            /** @description Whose it is, where a team's server answers about several people; absent on one machine. */
            owner?: string | null;
            /** @description The project. */
            project: string;
            /** @description What it waits for. */
            reason: components["schemas"]["WaitingReason"];
            /** @description The row that asks. */
            rowId?: string | null;
            /**
             * Format: date-time
             * @description Since when.
             */
            since: string;
            /** @description The task. */
            taskId: string;
            /** @description What that row says. */
            text?: string | null;
            /** @description Its title. */
            title: string;
        };
        /** @description A part of a list, and where the next part begins. */
        AttentionPage: {
            /** @description The items of this part, in the list's order. */
            items: components["schemas"]["Attention"][];
            /** @description Give this as `cursor` to get the next part. Absent at the end. */
            nextCursor?: string;
        };
        /** @description Somebody looked at somebody's sessions. */
        AuditEntry: {
            /**
             * Format: date-time
             * @description When.
             */
            at: string;
            /** @description Whose sessions were shown; `*` is a list of everybody's. */
            owner: string;
            /** @description The question, as its path names it. */
            question: string;
            /** @description Who looked: the name that their token or their proxy gave. */
            reader: string;
            /** @description The task that was shown; absent for a list. */
            taskId?: string | null;
        };
        /** @description A part of a list, and where the next part begins. */
        AuditEntryPage: {
            /** @description The items of this part, in the list's order. */
            items: components["schemas"]["AuditEntry"][];
            /** @description Give this as `cursor` to get the next part. Absent at the end. */
            nextCursor?: string;
        };
        /** @description What rules would have done. */
        Backtest: {
            /**
             * Format: int64
             * @description Tool calls among them.
             */
            calls: number;
            /** @description Whether everything was looked at. */
            complete: boolean;
            /**
             * Format: int64
             * @description Moments at which an agent would have asked: before and after calls, at prompts, permissions and ends.
             */
            moments: number;
            /** @description What would have come of all those moments, by the rules that are enforced. */
            outcomes: components["schemas"]["Decisions"];
            /** @description Each rule, in the order of the file. */
            rules: components["schemas"]["RuleFound"][];
            /**
             * Format: date-time
             * @description From when on it was looked.
             */
            since: string;
            /** @description Why not: `time` or `stopped`. The newest tasks come first, so what is missing is older. */
            stoppedBy?: string | null;
            /**
             * Format: int64
             * @description Tasks that were replayed, subagents too.
             */
            tasks: number;
            /**
             * Format: date-time
             * @description Until when.
             */
            until: string;
        };
        /** @description Rules to try. */
        BacktestRequest: {
            /** @description The text of a `policy.toml`. */
            policy: string;
        };
        /** @description How fast a window fills, since its first response. */
        BlockForecast: {
            /**
             * Format: double
             * @description US dollars in an hour; absent where a response has no price.
             */
            costPerHourUsd?: number | null;
            /**
             * Format: double
             * @description What it will have cost then; absent where a response has no price.
             */
            costUsd?: number | null;
            /**
             * Format: int64
             * @description The tokens that it will hold when it closes.
             */
            tokens: number;
            /**
             * Format: double
             * @description Tokens in a minute.
             */
            tokensPerMinute: number;
        };
        /** @description A shell command that ran. */
        CommandRun: {
            /** @description The command as given, masked. */
            command: string;
            /**
             * Format: int64
             * @description How long it took.
             */
            durationMs?: number | null;
            /** @description Its gravest effect. */
            effect: string;
            /** @description The class of its error. */
            errorClass?: string | null;
            /**
             * Format: int64
             * @description The exit code.
             */
            exitCode?: number | null;
            /** @description Whether the command line hides its own failure. */
            failureMasked: boolean;
            /** @description The row's id. */
            id: string;
            /**
             * Format: date-time
             * @description When it began.
             */
            occurredAt: string;
            /** @description Where it stands. */
            state: string;
            /** @description The task. */
            taskId: string;
            /** @description What a person reads. */
            title: string;
        };
        /** @description A part of a list, and where the next part begins. */
        CommandRunPage: {
            /** @description The items of this part, in the list's order. */
            items: components["schemas"]["CommandRun"][];
            /** @description Give this as `cursor` to get the next part. Absent at the end. */
            nextCursor?: string;
        };
        /** @description A command over many tasks. */
        CommandStat: {
            /** @description Program and subcommand. */
            command: string;
            /**
             * Format: int64
             * @description How often it ran.
             */
            count: number;
            /**
             * Format: int64
             * @description How often it failed.
             */
            failures: number;
            /**
             * Format: double
             * @description The mean.
             */
            meanMs?: number | null;
            /**
             * Format: int64
             * @description All runs together.
             */
            totalMs: number;
        };
        /** @description A part of a list, and where the next part begins. */
        CommandStatPage: {
            /** @description The items of this part, in the list's order. */
            items: components["schemas"]["CommandStat"][];
            /** @description Give this as `cursor` to get the next part. Absent at the end. */
            nextCursor?: string;
        };
        /** @description One compaction of a task's context. */
        Compaction: {
            /** @description What came out: the summary, and what was kept as it was. */
            after: components["schemas"]["CompactionSide"];
            /**
             * Format: date-time
             * @description When.
             */
            at?: string | null;
            /** @description What went in. */
            before: components["schemas"]["CompactionSide"];
            /**
             * Format: int64
             * @description Its place among those of the file, from one.
             */
            number: number;
            /**
             * Format: int64
             * @description Where in the file its mark stands, in bytes.
             */
            offset: number;
            /**
             * Format: int64
             * @description Tokens of the context after.
             */
            postTokens?: number | null;
            /**
             * Format: int64
             * @description Tokens of the context before.
             */
            preTokens?: number | null;
            /**
             * Format: int64
             * @description How long the file was when the hook saw the compaction begin.
             */
            seenBytes?: number | null;
            /** @description The SHA-256 of the file up to there, as it was then. */
            seenSha256?: string | null;
            /** @description The summary, masked, as far as it is shown. Absent at the level `metadata`, and where the provider keeps it. */
            summary?: string | null;
            /** @description `manual` or `auto`, where the client says so. */
            trigger?: string | null;
            /** @description Whether the file up to there is still the same. Absent where nobody saw it. */
            unchanged?: boolean | null;
        };
        /** @description One piece of what went in or came out. */
        CompactionItem: {
            /**
             * Format: date-time
             * @description When its row was written.
             */
            at?: string | null;
            /**
             * Format: int64
             * @description How long its text is, in bytes.
             */
            bytes: number;
            /**
             * Format: int64
             * @description Where its row stands in the file, in bytes.
             */
            offset: number;
            /** @description What it is: `prompt`, `answer`, `thought`, `call`, `result`, `summary` or `harness`. */
            part: string;
            /**
             * Format: int64
             * @description Its place on this side, from zero.
             */
            place: number;
            /** @description The beginning of its text, masked. Never that of a result; nothing at the level `metadata`. */
            text?: string | null;
            /** @description The tool of a call. */
            tool?: string | null;
        };
        /** @description A part of a list, and where the next part begins. */
        CompactionItemPage: {
            /** @description The items of this part, in the list's order. */
            items: components["schemas"]["CompactionItem"][];
            /** @description Give this as `cursor` to get the next part. Absent at the end. */
            nextCursor?: string;
        };
        /** @description A part of a list, and where the next part begins. */
        CompactionPage: {
            /** @description The items of this part, in the list's order. */
            items: components["schemas"]["Compaction"][];
            /** @description Give this as `cursor` to get the next part. Absent at the end. */
            nextCursor?: string;
        };
        /** @description What a context consisted of. */
        CompactionSide: {
            /**
             * Format: int64
             * @description Their texts together, in bytes.
             */
            bytes: number;
            /** @description Pieces by what they are: `prompt`, `answer`, `thought`, `call`, `result`, `summary`, `harness`. */
            pieces: Record<string, never>;
        };
        /** @description A point of the context chart. */
        ContextPoint: {
            /**
             * Format: date-time
             * @description When.
             */
            at: string;
            /**
             * Format: double
             * @description What the session cost so far, as the client says.
             */
            costUsd?: number | null;
            /** @description The client said nothing of its window: this follows from what a response was asked with, and from its model. */
            estimated?: boolean;
            /**
             * Format: double
             * @description Use of the five-hour limit, in percent.
             */
            fiveHourUsedPct?: number | null;
            /** @description The row's id. */
            id: string;
            /** @description What it marks. */
            kind: components["schemas"]["ContextPointKind"];
            /** @description The model. */
            model?: string | null;
            /**
             * Format: double
             * @description Use of the seven-day limit, in percent.
             */
            sevenDayUsedPct?: number | null;
            /** @description What a person reads at a mark. */
            title?: string | null;
            /**
             * Format: int64
             * @description Tokens in the window.
             */
            totalTokens?: number | null;
            /**
             * Format: double
             * @description How full the window was, in percent.
             */
            usedPct?: number | null;
            /**
             * Format: int64
             * @description The size of the window.
             */
            windowSize?: number | null;
        };
        /**
         * @description What a point of the context chart marks.
         * @enum {string}
         */
        ContextPointKind: "snapshot" | "compaction" | "model_switch";
        /** @description A part of a list, and where the next part begins. */
        ContextPointPage: {
            /** @description The items of this part, in the list's order. */
            items: components["schemas"]["ContextPoint"][];
            /** @description Give this as `cursor` to get the next part. Absent at the end. */
            nextCursor?: string;
        };
        /** @description A file that the spool could not read and keeps aside. */
        DeadLetter: {
            /**
             * Format: date-time
             * @description When it arrived. Absent for what never was an envelope, which cannot be put back.
             */
            arrivedAt?: string | null;
            /**
             * Format: int64
             * @description How long it is.
             */
            bytes: number;
            /** @description Its name, by which it can be put back. */
            name: string;
            /** @description Why it could not be read. */
            reason: string;
        };
        /** @description A part of a list, and where the next part begins. */
        DeadLetterPage: {
            /** @description The items of this part, in the list's order. */
            items: components["schemas"]["DeadLetter"][];
            /** @description Give this as `cursor` to get the next part. Absent at the end. */
            nextCursor?: string;
        };
        /** @description How often something would have been decided. */
        Decisions: {
            /**
             * Format: int64
             * @description Would have run without asking.
             */
            allowed: number;
            /**
             * Format: int64
             * @description The human would have been asked.
             */
            asked: number;
            /**
             * Format: int64
             * @description Would not have happened; at an end: would have been put off.
             */
            denied: number;
            /**
             * Format: int64
             * @description Would have run with another input.
             */
            rewritten: number;
            /**
             * Format: int64
             * @description Would not have happened, and the agent would have stopped.
             */
            stopped: number;
            /**
             * Format: int64
             * @description The model would have been told something.
             */
            warned: number;
        };
        /** @description Where a task stands after the end of a session. */
        EndAnswer: {
            /** @description The session. */
            sessionId: string;
            /** @description The task. */
            taskId: string;
            /** @description Where the task stands. */
            taskStatus: components["schemas"]["TaskStatus"];
        };
        /** @description A session that ended. */
        EndRequest: {
            /** @description Subagents that are complete with it, by the agent's ids of them or by our ids of their tasks. */
            backgroundCompletions?: string[] | null;
            /** @description Whether the task is complete too. */
            completeTask?: boolean | null;
            /** @description Why it ended: idle, assistant_turn_complete, explicit_exit, runtime_terminated, cleared, abandoned. */
            completionReason?: string | null;
            /** @description The agent's id of the session. */
            runtimeSessionId: string;
            /**
             * @description Who ran it.
             * @example claude_code
             */
            runtimeSource: string;
            /** @description What came of it. */
            summary?: string | null;
        };
        /** @description The ids of a session. */
        EnsureAnswer: {
            /** @description Whether the session was made by this call. */
            sessionCreated: boolean;
            /** @description The session. */
            sessionId: string;
            /** @description Whether the task was made by this call. */
            taskCreated: boolean;
            /** @description The task. */
            taskId: string;
        };
        /** @description A session that should have a task. */
        EnsureRequest: {
            /** @description Who asked for it: `user`, `server-sdk`, … */
            origin?: string | null;
            /** @description The session that started it: our id of it, or the agent's. */
            parentSessionId?: string | null;
            /** @description The task that started it. */
            parentTaskId?: string | null;
            /** @description Whether an earlier session goes on. */
            resume?: boolean | null;
            /** @description The agent's id of the session. */
            runtimeSessionId: string;
            /**
             * @description Who runs it: `claude_code`, `codex`, or an older name of them.
             * @example claude_code
             */
            runtimeSource: string;
            /** @description The task's id, where the sender knows it already. */
            taskId?: string | null;
            /** @description What a person reads. */
            title?: string | null;
            /** @description Where it works. */
            workspacePath?: string | null;
        };
        /** @description A row and everything behind it. */
        EventDetail: {
            /** @description What was said, in the order of delivery. */
            entries: components["schemas"]["ToldEntry"][];
            /** @description The channel that each field came from. */
            fieldChannels: Record<string, never>;
            /** @description The row. */
            row: components["schemas"]["Row"];
        };
        /** @description What became of events. */
        EventsAnswer: {
            /**
             * Format: int64
             * @description How many are on disk and are news.
             */
            accepted: number;
            /**
             * Format: int64
             * @description How many were known.
             */
            duplicates: number;
            /** @description Those that were refused. */
            rejected: components["schemas"]["Rejected"][];
        };
        /** @description Events to record. */
        EventsRequest: {
            /** @description One to a thousand of them. */
            events: components["schemas"]["PostedEvent"][];
        };
        /** @description A look at something: a file, a search, a listing, a symbol, a tool, the web. */
        Exploration: {
            /** @description Whether a search took capitals and small letters for the same, where it says so. */
            caseInsensitive?: boolean | null;
            /**
             * Format: int64
             * @description How long it took.
             */
            durationMs?: number | null;
            /** @description The files. */
            filePaths: string[];
            /** @description The files that a search was restricted to. */
            glob?: string | null;
            /** @description The row's id. */
            id: string;
            /**
             * Format: int64
             * @description How many lines were read.
             */
            limit?: number | null;
            /** @description What it asked for: the output mode of a search. */
            mode?: string | null;
            /** @description Whether the pattern of a search may match across lines, where it says so. */
            multiline?: boolean | null;
            /**
             * Format: date-time
             * @description When.
             */
            occurredAt: string;
            /**
             * Format: int64
             * @description The first line read.
             */
            offset?: number | null;
            /** @description The pattern searched for. */
            pattern?: string | null;
            /** @description Where it searched. */
            scope?: string | null;
            /** @description Where it stands. */
            state?: string | null;
            /** @description The task. */
            taskId: string;
            /** @description What a person reads. */
            title: string;
            /** @description The tool. */
            toolName?: string | null;
            /** @description What kind of look: the row's `subtypeKey`, such as `read_file` or `grep_code`. */
            what: string;
        };
        /** @description A part of a list, and where the next part begins. */
        ExplorationPage: {
            /** @description The items of this part, in the list's order. */
            items: components["schemas"]["Exploration"][];
            /** @description Give this as `cursor` to get the next part. Absent at the end. */
            nextCursor?: string;
        };
        /** @description Failures of one class at one tool. */
        FailureStat: {
            /**
             * Format: int64
             * @description How many calls of that tool there were.
             */
            calls: number;
            /**
             * Format: int64
             * @description How many.
             */
            count: number;
            /** @description The class. */
            errorClass: string;
            /** @description The tool. */
            tool: string;
        };
        /** @description A part of a list, and where the next part begins. */
        FailureStatPage: {
            /** @description The items of this part, in the list's order. */
            items: components["schemas"]["FailureStat"][];
            /** @description Give this as `cursor` to get the next part. Absent at the end. */
            nextCursor?: string;
        };
        /** @description A file over many tasks. */
        FileStat: {
            /**
             * Format: int64
             * @description How often it was changed.
             */
            changes: number;
            /** @description Its path. */
            path: string;
            /** @description The project. */
            project: string;
            /**
             * Format: int64
             * @description How often it was read.
             */
            reads: number;
        };
        /** @description A part of a list, and where the next part begins. */
        FileStatPage: {
            /** @description The items of this part, in the list's order. */
            items: components["schemas"]["FileStat"][];
            /** @description Give this as `cursor` to get the next part. Absent at the end. */
            nextCursor?: string;
        };
        /** @description A file and what was done with it. */
        FileUse: {
            /** @description Who touched it. */
            by: components["schemas"]["FileUser"][];
            /**
             * Format: int64
             * @description How often it was changed.
             */
            changes: number;
            /**
             * Format: int64
             * @description Calls on it that failed.
             */
            failures: number;
            /**
             * Format: date-time
             * @description First touched.
             */
            firstAt: string;
            /**
             * Format: date-time
             * @description Last touched.
             */
            lastAt: string;
            /** @description Its path. */
            path: string;
            /**
             * Format: int64
             * @description How often it was read.
             */
            reads: number;
        };
        /** @description A part of a list, and where the next part begins. */
        FileUsePage: {
            /** @description The items of this part, in the list's order. */
            items: components["schemas"]["FileUse"][];
            /** @description Give this as `cursor` to get the next part. Absent at the end. */
            nextCursor?: string;
        };
        /** @description A task that touched a file. */
        FileUser: {
            /** @description Its agent's type. */
            agentType: string;
            /**
             * Format: int64
             * @description How often.
             */
            count: number;
            /** @description The task. */
            taskId: string;
        };
        /** @description A moment at which a rule would have spoken. */
        Found: {
            /** @description The type of the agent, `main` for the main one. */
            agentType: string;
            /** @description What would have been decided. */
            decision: string;
            /** @description The event at which it would have been asked. */
            event: string;
            /**
             * Format: date-time
             * @description When it was.
             */
            occurredAt: string;
            /** @description The row. */
            rowId: string;
            /** @description What really came of it. */
            state?: string | null;
            /** @description Its task. */
            taskId: string;
            /** @description What a person reads. */
            title: string;
            /** @description The tool. */
            tool?: string | null;
        };
        /** @description The state of the whole. */
        Health: {
            faults?: null | components["schemas"]["StoreFaults"];
            import?: null | components["schemas"]["ImportHealth"];
            /**
             * Format: int64
             * @description The age of the oldest envelope that waits.
             */
            lagMs: number;
            outcomes?: null | components["schemas"]["OutcomeCounts"];
            /** @description What is wrong, and what to do about it. */
            problems: string[];
            /** @description Why observations were malformed or refused, most frequent first; at most fifty. */
            reasons?: components["schemas"]["OutcomeReason"][] | null;
            /** @description How long events are kept. */
            retention: components["schemas"]["RetentionHealth"];
            /**
             * Format: int64
             * @description The newest place in the order of delivery.
             */
            seq?: number | null;
            ship?: null | components["schemas"]["ShipHealth"];
            /** @description Where facts come from. */
            sources?: components["schemas"]["SourceHealth"][] | null;
            /** @description The spool. */
            spool: components["schemas"]["SpoolHealth"];
            /** @description `ok`, or `degraded` with problems below. */
            status: string;
            store?: null | components["schemas"]["StoreHealth"];
            /** @description What was not understood, most frequent first. */
            unrecognised?: components["schemas"]["UnrecognisedName"][] | null;
            /** @description The version of the server. */
            version: string;
        };
        /** @description A row that answers a search. */
        Hit: {
            /** @description The row. */
            row: components["schemas"]["Row"];
            /** @description The place that matched, with the words between `⟦` and `⟧`. */
            snippet: string;
            /** @description The title of its task. */
            taskTitle: string;
        };
        /** @description A part of a list, and where the next part begins. */
        HitPage: {
            /** @description The items of this part, in the list's order. */
            items: components["schemas"]["Hit"][];
            /** @description Give this as `cursor` to get the next part. Absent at the end. */
            nextCursor?: string;
        };
        /** @description How far the history of the agents is read: once, when the server starts. Numbers grow until it is done. */
        ImportHealth: {
            /**
             * Format: int64
             * @description Bytes that are read.
             */
            bytes: number;
            /**
             * Format: int64
             * @description Bytes that were to be read, by what was known at the beginning.
             */
            bytesTotal: number;
            /**
             * Format: int64
             * @description Files that are read.
             */
            files: number;
            /**
             * Format: int64
             * @description Files that were to be read.
             */
            filesTotal: number;
            /**
             * Format: int64
             * @description Rows that they brought.
             */
            rows: number;
            /** @description Whether it is still being read. */
            running: boolean;
        };
        /** @description One or more columns of a lane: one row, or several too close to be told apart. */
        LaneBin: {
            /**
             * Format: int64
             * @description Milliseconds between `start` and `end` in which at least one of them ran; the rest of that time is idle.
             */
            busyMs: number;
            /** @description How sure the least sure of them is. */
            certainty: string;
            /**
             * Format: int32
             * @description How many rows are in it.
             */
            count: number;
            /**
             * Format: int64
             * @description End, in milliseconds since 1970.
             */
            end: number;
            /**
             * Format: int32
             * @description How many of them failed.
             */
            failures: number;
            /** @description The row, if it is only one. */
            id?: string | null;
            /** @description The kind, if all have the same. */
            kind?: string | null;
            /** @description Whether one of them still runs. */
            running: boolean;
            /**
             * Format: int64
             * @description Begin, in milliseconds since 1970.
             */
            start: number;
            /** @description What a person reads: the row's title, or the most frequent tool. */
            title: string;
            /** @description The tool, if all have the same. */
            tool?: string | null;
            /**
             * Format: int32
             * @description Which of the parallel rows of the lane it is drawn in, from 0.
             */
            track: number;
        };
        /** @description The lanes of a task and its subagents between two moments. */
        LaneBins: {
            /**
             * Format: date-time
             * @description Where the picture begins.
             */
            from: string;
            /** @description Stretches in which nothing happened in any lane: begin and end in milliseconds since 1970. */
            gaps: number[][];
            /** @description The lanes, the task's own first, then its subagents', parents before children. */
            strips: components["schemas"]["LaneStrip"][];
            /**
             * Format: date-time
             * @description Where it ends.
             */
            to: string;
            /**
             * Format: int32
             * @description How many columns it has.
             */
            width: number;
        };
        /** @description One lane of one task. */
        LaneStrip: {
            /** @description Its columns that hold anything, left to right. */
            bins: components["schemas"]["LaneBin"][];
            /** @description The lane. */
            lane: string;
            /** @description The task. */
            taskId: string;
        };
        /** @description How much of a rate limit of an agent's account is used. */
        Limit: {
            /** @description The agent. */
            agent: string;
            /**
             * Format: date-time
             * @description When that was seen.
             */
            at: string;
            forecast?: null | components["schemas"]["LimitForecast"];
            /** @description Whose account it is, where a team's server answers about several people; absent on one machine. */
            owner?: string | null;
            /**
             * Format: date-time
             * @description When it begins anew, where the client says so.
             */
            resetsAt?: string | null;
            /**
             * Format: double
             * @description How much of it is used, in percent.
             */
            usedPct: number;
            /** @description `five_hour` or `seven_day`. */
            window: string;
        };
        /** @description A straight line through what was seen of a limit lately. */
        LimitForecast: {
            /** @description How far it may be believed: `low`, `medium` or `high`. */
            certainty: string;
            /**
             * Format: date-time
             * @description When all is used; none if it begins anew before that.
             */
            fullAt?: string | null;
            /**
             * Format: double
             * @description How much is used when it begins anew.
             */
            pctAtReset?: number | null;
            /**
             * Format: double
             * @description Percent in an hour.
             */
            pctPerHour: number;
            /**
             * Format: int64
             * @description The points that the line was drawn through.
             */
            points: number;
        };
        /** @description A part of a list, and where the next part begins. */
        LimitPage: {
            /** @description The items of this part, in the list's order. */
            items: components["schemas"]["Limit"][];
            /** @description Give this as `cursor` to get the next part. Absent at the end. */
            nextCursor?: string;
        };
        /** @description The server answers. */
        Liveness: {
            /** @description `ok`. */
            status: string;
            /** @description The version of the server. */
            version: string;
        };
        /** @description A link that lets a browser change things, once. */
        LoginCode: {
            /**
             * Format: date-time
             * @description Until when it is good.
             */
            expiresAt: string;
            /** @description The path to open on this server. */
            path: string;
        };
        /** @description The same call, made again and again in one task. */
        Loop: {
            /**
             * Format: int64
             * @description How often.
             */
            count: number;
            /**
             * Format: int64
             * @description How many of them failed.
             */
            failures: number;
            /**
             * Format: date-time
             * @description The first.
             */
            firstAt: string;
            /**
             * Format: date-time
             * @description The last.
             */
            lastAt: string;
            /** @description The row of the last. */
            lastId: string;
            /** @description Whose it is, where a team's server answers about several people; absent on one machine. */
            owner?: string | null;
            /** @description The task. */
            taskId: string;
            /** @description What a person reads. */
            title: string;
            /** @description The tool. */
            tool: string;
        };
        /** @description A part of a list, and where the next part begins. */
        LoopPage: {
            /** @description The items of this part, in the list's order. */
            items: components["schemas"]["Loop"][];
            /** @description Give this as `cursor` to get the next part. Absent at the end. */
            nextCursor?: string;
        };
        /** @description An MCP server's tool over many tasks. */
        McpStat: {
            /**
             * Format: int64
             * @description Calls.
             */
            count: number;
            /**
             * Format: int64
             * @description Calls that failed.
             */
            failures: number;
            /** @description The server. */
            server: string;
            /** @description The tool. */
            tool: string;
            /**
             * Format: int64
             * @description All of them together.
             */
            totalMs: number;
        };
        /** @description A part of a list, and where the next part begins. */
        McpStatPage: {
            /** @description The items of this part, in the list's order. */
            items: components["schemas"]["McpStat"][];
            /** @description Give this as `cursor` to get the next part. Absent at the end. */
            nextCursor?: string;
        };
        /** @description Moments that could not be judged. */
        NotJudged: {
            /**
             * Format: int64
             * @description How many. None if it holds whenever the rule is asked.
             */
            count?: number | null;
            /** @description Why. */
            reason: string;
        };
        /** @description What became of everything that arrived. `received` is the sum of the others. */
        OutcomeCounts: {
            /**
             * Format: int64
             * @description It changed nothing.
             */
            duplicate: number;
            /**
             * Format: int64
             * @description It could not be read.
             */
            malformed: number;
            /**
             * Format: int64
             * @description Everything that arrived.
             */
            received: number;
            /**
             * Format: int64
             * @description It changed something.
             */
            recorded: number;
            /**
             * Format: int64
             * @description It was not allowed.
             */
            refused: number;
            /**
             * Format: int64
             * @description Nobody knows what it is.
             */
            unrecognised: number;
        };
        /** @description Why observations were not recorded. */
        OutcomeReason: {
            /** @description The channel they came on. */
            channel: string;
            /**
             * Format: int64
             * @description How many.
             */
            count: number;
            /**
             * Format: date-time
             * @description When the last of them arrived.
             */
            lastAt: string;
            /** @description `malformed` or `refused`. */
            outcome: string;
            /** @description What was wrong with them. */
            reason: string;
        };
        /** @description How far the store's pages are compared with their sums. It goes round and round while the server runs. */
        PageCheck: {
            /**
             * Format: int64
             * @description Pages that this round has compared.
             */
            checked: number;
            /**
             * Format: int64
             * @description How long ago the last round was completed. Absent before the first.
             */
            lastRoundAgeMs?: number | null;
            /**
             * Format: int64
             * @description Pages of the store's file.
             */
            pages: number;
            /** @description Why they last were. */
            remadeBecause?: string | null;
            /**
             * Format: int64
             * @description Rounds that were completed since the server started.
             */
            rounds: number;
            /**
             * Format: int64
             * @description How often sums were made anew because there were none, or they could not be used.
             */
            sumsRemade: number;
        };
        /** @description A permission that was asked for. */
        Permission: {
            /** @description The row of the call. */
            callId?: string | null;
            /** @description `allowed`, `denied`, or absent while nobody knows. */
            decision?: string | null;
            /** @description The row's id. */
            id: string;
            /**
             * Format: date-time
             * @description When it was asked.
             */
            occurredAt: string;
            /**
             * Format: int64
             * @description How many new permission rules the client offered with it.
             */
            suggestionCount?: number | null;
            /** @description The task. */
            taskId: string;
            /** @description What was asked for. */
            title: string;
            /** @description The input of the call in one line. */
            toolInputSummary?: string | null;
            /** @description The tool. */
            toolName?: string | null;
            /** @description The call, where it could be joined. */
            toolUseId?: string | null;
            /**
             * Format: int64
             * @description How long the answer took.
             */
            waitMs?: number | null;
        };
        /** @description A part of a list, and where the next part begins. */
        PermissionPage: {
            /** @description The items of this part, in the list's order. */
            items: components["schemas"]["Permission"][];
            /** @description Give this as `cursor` to get the next part. Absent at the end. */
            nextCursor?: string;
        };
        /** @description The rules that act on what agents do, and what they did. */
        Policies: {
            /**
             * Format: int32
             * @description How long a hook waits for an answer, in milliseconds.
             */
            deadlineMs: number;
            /** @description The files that they stand in, the user's first. */
            files: components["schemas"]["PolicyFile"][];
            /** @description The rules in force, the user's first, in the order of their files. */
            items: components["schemas"]["Policy"][];
            /** @description What rules decided that are in force no longer. */
            past: components["schemas"]["RuleStat"][];
            /** @description What is wrong with the rules. */
            problems: string[];
        };
        /** @description A rule that acts on what agents do. */
        Policy: components["schemas"]["RuleInForce"] & {
            /** @description How often it decided what. `lastAt` knows no `since` and no `until`. */
            counts: components["schemas"]["RuleStat"];
        };
        /** @description A file of rules, as far as the server tells of it. */
        PolicyFile: {
            /** @description Whose it is: `user`, `project` (it may only deny, ask and warn) or `trusted_project`. */
            origin: string;
            /** @description The file. */
            path: string;
            /** @description Why the rules in force are not those of the file as it is now. */
            problem?: string | null;
            /** @description The root of the project, if it is a project's. */
            project?: string | null;
            /**
             * Format: int64
             * @description How many rules of it are in force.
             */
            rules: number;
            /** @description The SHA-256 of the rules in force, which is what `policy trust` remembers; absent if none are. */
            sha256?: string | null;
        };
        /** @description One event. */
        PostedEvent: {
            /** @description Longer text. */
            body?: string | null;
            /** @description Files it is about. */
            filePaths?: string[] | null;
            /** @description The sender's id of it. The same id twice is one event. */
            id?: string | null;
            /**
             * @description What it is.
             * @example tool.used
             */
            kind: string;
            /** @description Where it is shown; the usual lane of its kind or tool unless given. */
            lane?: string | null;
            /** @description Everything else. `crossCheck {source, dedupeKey}` merges events of one kind and session. */
            metadata?: Record<string, never> | null;
            /**
             * Format: date-time
             * @description When it happened; when it arrived unless given.
             */
            occurredAt?: string | null;
            /** @description The event that it is a part of. */
            parentEventId?: string | null;
            /** @description The agent's id of the session. */
            runtimeSessionId?: string | null;
            /** @description Who runs the session. */
            runtimeSource?: string | null;
            /** @description The session, as `ensure` gave it. */
            sessionId?: string | null;
            /** @description The task; or else the two members below. */
            taskId?: string | null;
            /** @description What a person reads. */
            title?: string | null;
        };
        /** @description Why a request was not answered. */
        Problem: {
            /** @description What is wrong with this request. */
            detail: string;
            /** @description Every part of the request that is wrong. */
            errors: components["schemas"]["Wrong"][];
            /**
             * Format: int32
             * @description The status of the answer.
             */
            status: number;
            /** @description The kind in words. */
            title: string;
            /** @description What kind of problem it is: `urn:agent-tracer:problem:` and a name. */
            type: string;
        };
        /** @description A question to a person. */
        Question: {
            /**
             * Format: int64
             * @description How many answers were given.
             */
            answerCount?: number | null;
            /** @description The row's id. */
            id: string;
            /**
             * Format: date-time
             * @description When it was asked.
             */
            occurredAt: string;
            /** @description `asked`, `answered`, `declined`, `cancelled`. */
            phase: string;
            /** @description The questions as asked. */
            questions: Record<string, never>[];
            /** @description The task. */
            taskId: string;
            /** @description What a person reads. */
            title: string;
            /**
             * Format: int64
             * @description How long the answer took.
             */
            waitMs?: number | null;
        };
        /** @description A part of a list, and where the next part begins. */
        QuestionPage: {
            /** @description The items of this part, in the list's order. */
            items: components["schemas"]["Question"][];
            /** @description Give this as `cursor` to get the next part. Absent at the end. */
            nextCursor?: string;
        };
        /** @description An event that was refused. */
        Rejected: {
            /** @description The sender's id of it. */
            id?: string | null;
            /**
             * Format: int64
             * @description Its place in the batch, from 0.
             */
            index: number;
            /** @description Why. */
            reason: string;
        };
        /** @description Tokens that no response tells of, only a cumulative account of the client. */
        Residual: {
            /**
             * Format: int64
             * @description Tokens written to a cache.
             */
            cacheCreationTokens: number;
            /**
             * Format: int64
             * @description Tokens read from a cache.
             */
            cacheReadTokens: number;
            /**
             * Format: double
             * @description What they cost by the client's own account, where it says so.
             */
            clientCostUsd?: number | null;
            /**
             * Format: double
             * @description What they cost by our price table.
             */
            costUsd: number;
            /**
             * Format: int64
             * @description Input tokens.
             */
            inputTokens: number;
            /** @description The same by model, where it is the residual of tasks. */
            models?: components["schemas"]["ResidualModel"][];
            /**
             * Format: int64
             * @description Output tokens.
             */
            outputTokens: number;
            /** @description Why they are known only as a difference: `compaction`, `side request`, both, or `unknown`. */
            reason: string;
        };
        /** @description The residual of one model. */
        ResidualModel: {
            /**
             * Format: int64
             * @description Tokens written to a cache.
             */
            cacheCreationTokens: number;
            /**
             * Format: int64
             * @description Tokens read from a cache.
             */
            cacheReadTokens: number;
            /**
             * Format: double
             * @description What they cost by our price table; none if the model has no price.
             */
            costUsd?: number | null;
            /**
             * Format: int64
             * @description Input tokens.
             */
            inputTokens: number;
            /** @description The model. */
            model: string;
            /**
             * Format: int64
             * @description Output tokens.
             */
            outputTokens: number;
            /** @description Why they are known only as a difference. */
            reason: string;
        };
        /** @description How long events are kept, and what the server dropped since it started. */
        RetentionHealth: {
            /**
             * Format: int32
             * @description Events of tasks that were not heard of for so many days are dropped; absent if they are kept for ever.
             */
            days?: number | null;
            /**
             * Format: int64
             * @description Their events.
             */
            events: number;
            /**
             * Format: date-time
             * @description When it was last looked for them.
             */
            lastAt?: string | null;
            /**
             * Format: int64
             * @description Tasks whose events were dropped.
             */
            tasks: number;
        };
        /** @description One row of the timeline. */
        Row: {
            /** @description The agent's id of the subagent. */
            agentId?: string | null;
            /** @description The type of the agent, `main` for the main one. */
            agentType: string;
            /** @description Longer text: the prompt, the message, the question. */
            body?: string | null;
            /**
             * @description How sure it is.
             * @example measured
             */
            certainty: string;
            /** @description Every channel that told of it. */
            channels: string[];
            /**
             * Format: date-time
             * @description When it ended.
             */
            endedAt?: string | null;
            /** @description Files it was about. */
            filePaths: string[];
            /** @description The hook that told of it. */
            hookEventName?: string | null;
            /** @description Its id. */
            id: string;
            /** @description Whether a subagent did it. */
            isSubagent: boolean;
            /**
             * @description What it is.
             * @example terminal.command
             */
            kind: string;
            /**
             * @description Where it is shown.
             * @example implementation
             */
            lane: string;
            /** @description Everything else. */
            metadata: Record<string, never>;
            /**
             * Format: date-time
             * @description When it began.
             */
            occurredAt: string;
            /** @description Whose it is, where a team's server answers about several people; absent on one machine. */
            owner?: string | null;
            /** @description The agent's id of the session. */
            runtimeSessionId: string;
            /**
             * Format: int64
             * @description The place in the order of delivery at which it last changed.
             */
            seq: number;
            /** @description The stay of the process that it happened in. */
            sessionId: string;
            /**
             * @description Where a call stands.
             * @example running
             */
            state?: string | null;
            /** @description The task. */
            taskId: string;
            /** @description What a person reads. */
            title: string;
            /** @description The tool. */
            toolName?: string | null;
            /** @description The agent's id of the call. */
            toolUseId?: string | null;
            /** @description The turn. */
            turnId?: string | null;
        };
        /** @description A part of a list, and where the next part begins. */
        RowPage: {
            /** @description The items of this part, in the list's order. */
            items: components["schemas"]["Row"][];
            /** @description Give this as `cursor` to get the next part. Absent at the end. */
            nextCursor?: string;
        };
        /** @description One rule that spoke about one event. */
        RuleDecision: {
            /** @description Who decided: `server`, `guard`, `outage`, or the client's own `claude_prompt` or `claude_agent`. */
            answeredBy: string;
            /** @description Why it spoke: `applies`, `outage`, `not_possible` or `let_go`. */
            basis: string;
            /** @description The row of the call that it is about. */
            callId?: string | null;
            /** @description What the rule wants: `allow`, `rewrite`, `warn`, `ask`, `deny`, `stop`, or `silent`. */
            decision: string;
            /** @description The row's id. */
            id: string;
            /** @description What it was decided on. */
            inputs: components["schemas"]["RuleInputs"];
            /** @description Whether it acts: `enforce` or `dry_run`. */
            mode: string;
            /**
             * Format: date-time
             * @description When.
             */
            occurredAt: string;
            /** @description Whose rule: `user`, `project` or `trusted_project`. */
            origin: string;
            /** @description What that comes to: `allow`, `rewrite`, `warn`, `ask`, `deny` or `block_stop`. */
            outcome: string;
            /** @description Whose it is, where a team's server answers about several people; absent on one machine. */
            owner?: string | null;
            /** @description The rule. */
            rule: string;
            /** @description The root of the rule's project; absent if it is the user's. */
            ruleProject?: string | null;
            /** @description How much a person should care; absent where nobody could ask the rule. */
            severity?: string | null;
            /**
             * @description How it counted: `enforced`, `dry_run`, `held_back` (the project is not trusted) or `let_go` (an end was put off as
             *     often as it may be).
             */
            status: string;
            /** @description The task. */
            taskId: string;
            /** @description What a person reads. */
            title: string;
            /**
             * Format: int64
             * @description How long that took, in microseconds.
             */
            tookUs?: number | null;
        };
        /** @description A part of a list, and where the next part begins. */
        RuleDecisionPage: {
            /** @description The items of this part, in the list's order. */
            items: components["schemas"]["RuleDecision"][];
            /** @description Give this as `cursor` to get the next part. Absent at the end. */
            nextCursor?: string;
        };
        /** @description What one rule would have done. */
        RuleFound: {
            /** @description What it wants. */
            decision: string;
            /** @description How often it would have decided what. */
            decisions: components["schemas"]["Decisions"];
            /** @description The events at which it speaks. */
            events: string[];
            /** @description The newest calls about which it would have spoken, at most a few dozen of them. */
            examples: components["schemas"]["Found"][];
            /**
             * Format: int64
             * @description How often it would have spoken and been held back, because the project is not trusted.
             */
            heldBack: number;
            /**
             * Format: int64
             * @description Where it stands in its file, counted from one.
             */
            line: number;
            /** @description Whether it acts: `enforce` or `dry_run`. A rehearsal is counted too. */
            mode: string;
            /** @description Its name. */
            name: string;
            /** @description What could not be judged, and why. */
            notJudged: components["schemas"]["NotJudged"][];
            /** @description Whose it is: `user`, `project` or `trusted_project`. */
            origin: string;
        };
        /** @description A rule that is in force, as far as the server tells of it. */
        RuleInForce: {
            /** @description What it wants: `allow`, `rewrite`, `warn`, `ask`, `deny` or `stop`. */
            decision: string;
            /** @description What it is for. */
            description?: string | null;
            /** @description Whether it acts: not if it only rehearses, or is a project's that may not. */
            enabled: boolean;
            /** @description The events at which it speaks. */
            events: string[];
            /**
             * Format: int64
             * @description Where in the file, counted from one.
             */
            line: number;
            /** @description What has to be so, each a line that a person reads; none means every such event. */
            matches: string[];
            /** @description `enforce` or `dry_run`. */
            mode: string;
            /** @description Its name. */
            name: string;
            /** @description What holds when nobody can tell whether it applies: `allow`, `ask` or `deny`. */
            onOutage: string;
            /** @description Whose it is: `user`, `project` or `trusted_project`. */
            origin: string;
            /** @description The root of the project, if it is a project's. */
            project?: string | null;
            /** @description What the model is told. */
            reason?: string;
            /** @description How much a person should care: `info`, `low`, `medium`, `high` or `critical`. */
            severity: string;
            /** @description The file it stands in. */
            source: string;
        };
        /** @description What a decision was made on: ids, names and places. What the agent wanted to do stands in the call's own row. */
        RuleInputs: {
            /** @description The product. */
            agent: string;
            /** @description The type of agent. */
            agentType: string;
            /** @description Where it worked. */
            cwd?: string | null;
            /** @description The event that the agent told. */
            event?: string | null;
            /** @description Whether it is a subagent. */
            isSubagent: boolean;
            /** @description The tool. */
            toolName?: string | null;
            /** @description The agent's id of the call. */
            toolUseId?: string | null;
        };
        /** @description How often one rule decided what. */
        RuleStat: {
            /**
             * Format: int64
             * @description How often it spoke at all.
             */
            count: number;
            /**
             * Format: int64
             * @description How often it only rehearsed.
             */
            dryRun: number;
            /**
             * Format: int64
             * @description How often that counted.
             */
            enforced: number;
            /**
             * Format: int64
             * @description How often it was held back, because its project is not trusted.
             */
            heldBack: number;
            /**
             * Format: date-time
             * @description When it last spoke, as far as its decisions are kept.
             */
            lastAt?: string | null;
            /**
             * Format: int64
             * @description How often it let go of an end that it had put off as often as it may.
             */
            letGo: number;
            /**
             * Format: int64
             * @description How long a decision took on average, in microseconds.
             */
            meanUs: number;
            /** @description How often it came to what, rehearsals included. */
            outcomes: {
                [key: string]: number;
            };
            /** @description The root of its project; absent if it is the user's. */
            project?: string | null;
            /** @description The rule. */
            rule: string;
        };
        /** @description One stay of a process in a task: a start or a resume, and its end. */
        SessionView: {
            /** @description Why it ended. */
            completionReason?: string | null;
            /**
             * Format: date-time
             * @description When it ended.
             */
            endedAt?: string | null;
            /** @description Its id. */
            id: string;
            /** @description What started it: `startup`, `resume`, `clear`, `fork`, `compact`. */
            source?: string | null;
            /**
             * Format: date-time
             * @description When it began.
             */
            startedAt: string;
        };
        /** @description How the server is set up. */
        Settings: {
            /** @description The address it listens on. */
            address: string;
            /**
             * Format: int64
             * @description How many patterns of folders are excluded from recording. The patterns themselves are nobody's business.
             */
            excluded: number;
            /** @description Whether the asker may change things: with the token, or in a browser that opened the one-time link. */
            mayWrite: boolean;
            /**
             * Format: int64
             * @description How many models have a price of the user's own, from `prices.toml`.
             */
            ownPrices: number;
            /** @description How much is kept: `metadata`, `actions` or `full`. */
            privacyLevel: string;
            /**
             * Format: int32
             * @description Events of tasks that were not heard of for so many days are dropped; absent if they are kept for ever.
             */
            retentionDays?: number | null;
            /** @description Whose days are meant where a question does not say. */
            timeZone: string;
            /** @description The version of the server. */
            version: string;
        };
        /** @description How far the way to a team's server is gone. */
        ShipHealth: {
            /**
             * Format: int64
             * @description Changes that wait to be shipped.
             */
            behind: number;
            /** @description Why nothing is shipped at the moment. */
            problem?: string | null;
            /** @description The server. */
            to: string;
        };
        /** @description The answer to a shipment. */
        ShipmentAnswer: {
            /**
             * Format: int64
             * @description Records with a time outside of 1970 to 2100, which was moved to the nearer end.
             */
            clamped?: number;
        };
        /** @description A skill over many tasks. */
        SkillStat: {
            /**
             * Format: double
             * @description How much of all cost that is, from 0 to 1; none where nothing has a price.
             */
            costShare?: number | null;
            /**
             * Format: int64
             * @description How often it was activated.
             */
            count: number;
            /**
             * Format: int64
             * @description Activations that failed.
             */
            failures: number;
            /** @description Its name. */
            skill: string;
            /** @description What the responses spent that were given for it: those after its activation, until the end of its turn. */
            usage: components["schemas"]["UsageView"];
        };
        /** @description A part of a list, and where the next part begins. */
        SkillStatPage: {
            /** @description The items of this part, in the list's order. */
            items: components["schemas"]["SkillStat"][];
            /** @description Give this as `cursor` to get the next part. Absent at the end. */
            nextCursor?: string;
        };
        /** @description One place that facts come from. */
        SourceHealth: {
            /**
             * Format: int64
             * @description Bytes read.
             */
            bytes: number;
            /**
             * Format: int64
             * @description Files known and bytes read, for folders.
             */
            files: number;
            /**
             * Format: date-time
             * @description When it last told something.
             */
            lastAt?: string | null;
            /** @description The channel, or a folder of transcripts. */
            name: string;
            /**
             * Format: int64
             * @description How much it told.
             */
            observations: number;
            /** @description What is wrong with it. */
            problem?: string | null;
        };
        /** @description The spool. */
        SpoolHealth: {
            /** @description What the hook could not keep, by reason. */
            lost: Record<string, never>;
            /**
             * Format: int64
             * @description Envelopes that could not be read.
             */
            quarantined: number;
            /**
             * Format: int64
             * @description Envelopes that wait.
             */
            waiting: number;
        };
        /** @description What went wrong with the store since the server started. */
        StoreFaults: {
            /**
             * Format: int64
             * @description Pages of the store that another program changed while no server used it.
             */
            changedPages: number;
            /** @description How far the store's pages are compared with their sums. */
            check: components["schemas"]["PageCheck"];
            /**
             * Format: int64
             * @description Commits in the store's log that could not be read.
             */
            damagedCommits: number;
            /**
             * Format: int64
             * @description Pages of the store that are not what was written.
             */
            damagedPages: number;
            /**
             * Format: int64
             * @description Places in the journal of posts that could not be read.
             */
            damagedPosts: number;
            /**
             * Format: int64
             * @description Files of agents that could not be kept and are tried again later.
             */
            parkedFiles: number;
            /** @description What of it needs a person now. They are among the problems of the whole, too. */
            problems: string[];
            /**
             * Format: int64
             * @description Questions that had no answer because of damage.
             */
            readFailures: number;
            /** @description Whether the store takes anything now. While it does not, hooks wait in the spool and posts are refused. */
            recording: boolean;
            /**
             * Format: int64
             * @description Posted events that could not be written and are set aside now.
             */
            setAside: number;
            /** @description Writes that failed, by reason. */
            writeFailures: Record<string, never>;
        };
        /** @description The store. */
        StoreHealth: {
            /**
             * Format: int64
             * @description Its size on disk.
             */
            bytes: number;
            /**
             * Format: int64
             * @description Entries.
             */
            entries: number;
            /**
             * Format: int64
             * @description Rows of timelines.
             */
            events: number;
            /** @description `sqlite` or `clickhouse`. */
            kind: string;
            /**
             * Format: int32
             * @description The version of its schema.
             */
            schema: number;
            /**
             * Format: int64
             * @description Rows that search does not know yet.
             */
            searchLag: number;
            /**
             * Format: int64
             * @description Tasks.
             */
            tasks: number;
        };
        /** @description One runtime session of an agent, as people see it in the list. */
        Task: {
            /**
             * @description The agent.
             * @example claude_code
             */
            agent: string;
            /** @description The agent's id of the subagent. */
            agentId?: string | null;
            /** @description The type of the agent, `main` for the main one. */
            agentType: string;
            /**
             * Format: int64
             * @description Subagents that it started itself.
             */
            childCount: number;
            /** @description The version of the client. */
            clientVersion?: string | null;
            /**
             * Format: double
             * @description How full its context is, in percent.
             */
            contextUsedPct?: number | null;
            /** @description The task whose context was cleared to begin this one. */
            continuesTaskId?: string | null;
            /** @description What it does just now: the title of its newest open call, or of its newest row. */
            current?: string | null;
            /**
             * Format: date-time
             * @description When it ended.
             */
            endedAt?: string | null;
            /**
             * Format: int64
             * @description Rows in its timeline.
             */
            eventCount: number;
            /**
             * Format: int64
             * @description Its own tool calls that failed.
             */
            failureCount: number;
            /** @description The task whose history this one began with. */
            forkedFromTaskId?: string | null;
            /** @description The branch it works on. */
            gitBranch?: string | null;
            /** @description Its id. */
            id: string;
            /** @description Whether people started it. */
            kind: components["schemas"]["TaskKind"];
            /**
             * Format: date-time
             * @description When anything was last heard of it.
             */
            lastEventAt: string;
            /** @description The machine it runs on. */
            machineId: string;
            /** @description The model that answered last. */
            model?: string | null;
            /** @description Whose it is, where a team's server answers about several people; absent on one machine. */
            owner?: string | null;
            /** @description How sure the parent is. */
            parentCertainty?: string | null;
            /** @description The task that started it. */
            parentTaskId?: string | null;
            /** @description The call that started it. */
            parentToolUseId?: string | null;
            /** @description The project: the root of the repository, or the folder. */
            project: string;
            /** @description The agent's id of the session. */
            runtimeSessionId: string;
            /** @description It is silent for longer than it should be, or its process is gone. */
            stale: boolean;
            /**
             * Format: date-time
             * @description When it was first seen.
             */
            startedAt: string;
            /** @description Where it stands. */
            status: components["schemas"]["TaskStatus"];
            /** @description What a person reads. */
            title: string;
            /**
             * Format: int64
             * @description Its own tool calls.
             */
            toolCallCount: number;
            /**
             * Format: int64
             * @description Tool calls of it and all its descendants that failed.
             */
            treeFailureCount: number;
            /**
             * Format: int64
             * @description Tool calls of it and all its descendants: of the same scope as `treeUsage`.
             */
            treeToolCallCount: number;
            /** @description What it and all its descendants spent. */
            treeUsage: components["schemas"]["UsageView"];
            /**
             * Format: int64
             * @description Turns.
             */
            turnCount: number;
            /** @description What it spent itself. */
            usage: components["schemas"]["UsageView"];
            waitingReason?: null | components["schemas"]["WaitingReason"];
            /**
             * Format: date-time
             * @description Since when it waits.
             */
            waitingSince?: string | null;
            /** @description Where it works. */
            workspacePath: string;
        };
        /**
         * @description Whether people started it or another task did.
         * @enum {string}
         */
        TaskKind: "primary" | "background";
        /** @description A part of a list, and where the next part begins. */
        TaskPage: {
            /** @description The items of this part, in the list's order. */
            items: components["schemas"]["Task"][];
            /** @description Give this as `cursor` to get the next part. Absent at the end. */
            nextCursor?: string;
        };
        /**
         * @description Where a task stands.
         * @enum {string}
         */
        TaskStatus: "running" | "waiting" | "completed" | "failed" | "abandoned";
        /** @description The numbers of a whole task, with its subagents. */
        TaskSummary: {
            /**
             * Format: int64
             * @description Time in which a turn ran and no person was waited for. With `waitingMs` never more than `durationMs`.
             */
            activeMs: number;
            /**
             * Format: int64
             * @description Subagents, at any depth.
             */
            agents: number;
            /**
             * Format: int64
             * @description Compactions of its context.
             */
            compactions: number;
            /**
             * Format: int64
             * @description From its first to its last event.
             */
            durationMs: number;
            /**
             * Format: int64
             * @description Tool calls that failed.
             */
            failures: number;
            /**
             * Format: int64
             * @description Different files that it changed.
             */
            filesChanged: number;
            /**
             * Format: int64
             * @description Different files that it read.
             */
            filesRead: number;
            /**
             * Format: int64
             * @description Permissions that it asked for.
             */
            permissions: number;
            /**
             * @description Whether permission prompts were recorded at all: hooks tell of them, the agents' own files do not. If not,
             *     `permissions` and `waitingMs` are not known.
             */
            permissionsRecorded: boolean;
            /** @description Its stays, oldest first. */
            sessions: components["schemas"]["SessionView"][];
            /** @description The task. */
            taskId: string;
            /**
             * Format: int64
             * @description Tool calls.
             */
            toolCalls: number;
            /**
             * Format: int64
             * @description Turns.
             */
            turns: number;
            /** @description What it and its descendants spent. */
            usage: components["schemas"]["UsageView"];
            /**
             * Format: int64
             * @description Time in which it or a subagent waited for a person.
             */
            waitingMs: number;
        };
        /** @description An item of a to-do list. */
        Todo: {
            /** @description How it got there, oldest first. */
            history: components["schemas"]["TodoStep"][];
            /** @description How urgent the agent calls it. */
            priority?: string | null;
            /** @description Where it stands. */
            state: string;
            /** @description What is to do. */
            subject: string;
            /** @description The task. */
            taskId: string;
            /** @description The agent's id of it. */
            todoId: string;
        };
        /** @description A part of a list, and where the next part begins. */
        TodoPage: {
            /** @description The items of this part, in the list's order. */
            items: components["schemas"]["Todo"][];
            /** @description Give this as `cursor` to get the next part. Absent at the end. */
            nextCursor?: string;
        };
        /** @description One change of a to-do. */
        TodoStep: {
            /**
             * Format: date-time
             * @description When.
             */
            at: string;
            /** @description The row's id. */
            id: string;
            /** @description The new state. */
            state: string;
        };
        /** @description One entry behind a row. */
        ToldEntry: {
            /** @description How sure it is. */
            certainty: string;
            /** @description How it reached us. */
            channel: string;
            /** @description Its id. */
            entryId: string;
            /** @description Why it says so. */
            evidence: string;
            /** @description What it said. */
            fields: Record<string, never>;
            /** @description The machine it was recorded on. */
            machineId: string;
            /**
             * Format: date-time
             * @description When it happened, as far as it can say.
             */
            occurredAt: string;
            /** @description What it does to the row. */
            phase: string;
            /**
             * Format: int64
             * @description Its place in the order of delivery.
             */
            seq: number;
        };
        /** @description One tool use, from attempt to end. */
        ToolCall: {
            /** @description The agent's id of the subagent. */
            agentId?: string | null;
            /** @description Every channel that told of it. */
            channels: string[];
            /**
             * Format: int64
             * @description How long it took.
             */
            durationMs?: number | null;
            /** @description Who measured that: `agent` or `tracer`. */
            durationSource?: string | null;
            /**
             * Format: date-time
             * @description When it ended.
             */
            endedAt?: string | null;
            /** @description The class of its error. */
            errorClass?: string | null;
            /**
             * Format: int64
             * @description The exit code.
             */
            exitCode?: number | null;
            /** @description The row's id. */
            id: string;
            /**
             * Format: int64
             * @description How long it waited for a permission.
             */
            permissionWaitMs?: number | null;
            /**
             * Format: date-time
             * @description When it was attempted.
             */
            startedAt: string;
            /**
             * @description Where it stands.
             * @example succeeded
             */
            state: string;
            /** @description The task. */
            taskId: string;
            /** @description What a person reads. */
            title: string;
            /** @description The tool. */
            toolName: string;
            /** @description The agent's id of the call. */
            toolUseId?: string | null;
            /** @description The turn. */
            turnId?: string | null;
        };
        /** @description A part of a list, and where the next part begins. */
        ToolCallPage: {
            /** @description The items of this part, in the list's order. */
            items: components["schemas"]["ToolCall"][];
            /** @description Give this as `cursor` to get the next part. Absent at the end. */
            nextCursor?: string;
        };
        /** @description One tool: how often, how long, how well. */
        ToolStat: {
            /**
             * Format: int64
             * @description Calls.
             */
            count: number;
            /**
             * Format: int64
             * @description Calls that failed or were denied.
             */
            failures: number;
            /**
             * Format: double
             * @description Half of the calls took at most this long, within 1 %.
             */
            p50Ms?: number | null;
            /**
             * Format: double
             * @description 95 of 100 calls took at most this long, within 1 %.
             */
            p95Ms?: number | null;
            /**
             * Format: double
             * @description 99 of 100 calls took at most this long, within 1 %.
             */
            p99Ms?: number | null;
            /** @description The tool. */
            tool: string;
            /**
             * Format: int64
             * @description All of them together.
             */
            totalMs: number;
        };
        /** @description A part of a list, and where the next part begins. */
        ToolStatPage: {
            /** @description The items of this part, in the list's order. */
            items: components["schemas"]["ToolStat"][];
            /** @description Give this as `cursor` to get the next part. Absent at the end. */
            nextCursor?: string;
        };
        /** @description A task in the tree of its descendants, parents before children. */
        TreeNode: {
            /**
             * Format: int32
             * @description How deep it stands below the task that was asked for.
             */
            depth: number;
            /** @description The task. */
            task: components["schemas"]["Task"];
        };
        /** @description A part of a list, and where the next part begins. */
        TreeNodePage: {
            /** @description The items of this part, in the list's order. */
            items: components["schemas"]["TreeNode"][];
            /** @description Give this as `cursor` to get the next part. Absent at the end. */
            nextCursor?: string;
        };
        /** @description From a prompt to its end. */
        Turn: {
            /** @description What it said at the end. */
            answer?: string | null;
            /**
             * Format: int64
             * @description How long it took by the client's own account, which may leave out waits for people.
             */
            clientDurationMs?: number | null;
            /**
             * Format: int64
             * @description From its beginning to its end, waits for people included.
             */
            durationMs?: number | null;
            /**
             * Format: date-time
             * @description When it ended.
             */
            endedAt?: string | null;
            /**
             * Format: int64
             * @description Tool calls in it that failed.
             */
            failureCount: number;
            /** @description Its id. */
            id: string;
            /**
             * Format: int64
             * @description Its place among the turns of the task, from one.
             */
            number: number;
            /** @description What was asked. */
            prompt?: string | null;
            /** @description Who asked: `user`, `task_notification`, `steering`, … */
            promptOrigin?: string | null;
            /**
             * Format: date-time
             * @description When it began.
             */
            startedAt: string;
            /** @description How it ended: running, succeeded, failed, interrupted, abandoned. */
            state: string;
            /** @description Why the model stopped. */
            stopReason?: string | null;
            /** @description The task. */
            taskId: string;
            /**
             * Format: int64
             * @description Tool calls in it.
             */
            toolCallCount: number;
            /** @description What it spent. */
            usage: components["schemas"]["UsageView"];
        };
        /** @description A part of a list, and where the next part begins. */
        TurnPage: {
            /** @description The items of this part, in the list's order. */
            items: components["schemas"]["Turn"][];
            /** @description Give this as `cursor` to get the next part. Absent at the end. */
            nextCursor?: string;
        };
        /** @description A name that no reader knows. */
        UnrecognisedName: {
            /** @description The agent. */
            agent: string;
            /** @description The version of the client. */
            clientVersion: string;
            /**
             * Format: int64
             * @description How often.
             */
            count: number;
            /** @description The name. */
            name: string;
            /** @description `event`, `tool`, `field`, `value`, `row` or `line`. */
            what: string;
        };
        /** @description A window of five hours, as the clients count them. */
        UsageBlock: {
            /**
             * Format: date-time
             * @description When it closes.
             */
            endsAt: string;
            forecast?: null | components["schemas"]["BlockForecast"];
            /** @description Whether it is open now. */
            isActive: boolean;
            /**
             * Format: date-time
             * @description Until when anything was spent in it, to the quarter-hour.
             */
            lastAt: string;
            /**
             * Format: date-time
             * @description When it opened: the full hour before its first response.
             */
            startedAt: string;
            /** @description What was spent in it. */
            usage: components["schemas"]["UsageView"];
        };
        /** @description A part of a list, and where the next part begins. */
        UsageBlockPage: {
            /** @description The items of this part, in the list's order. */
            items: components["schemas"]["UsageBlock"][];
            /** @description Give this as `cursor` to get the next part. Absent at the end. */
            nextCursor?: string;
        };
        /** @description What was spent in one part of the whole. */
        UsageBucket: {
            /** @description The part: a day, a model, a project, … */
            key: string;
            /** @description A name that people know for it, where the key is an id. */
            label?: string | null;
            /** @description Whose task it is, where a team's server answers by task; absent on one machine. */
            owner?: string | null;
            /** @description What was spent. */
            usage: components["schemas"]["UsageView"];
        };
        /** @description A part of a list, and where the next part begins. */
        UsageBucketPage: {
            /** @description The items of this part, in the list's order. */
            items: components["schemas"]["UsageBucket"][];
            /** @description Give this as `cursor` to get the next part. Absent at the end. */
            nextCursor?: string;
        };
        /** @description What a sum of usage rests on. */
        UsageProvenance: {
            /**
             * Format: int64
             * @description Responses that a fork, resume or subagent copied and that count elsewhere.
             */
            copies: number;
            /**
             * Format: int64
             * @description Responses of providers in the sum.
             */
            responses: number;
            /**
             * Format: int64
             * @description Responses whose model has no price: their tokens count, their cost does not.
             */
            unpriced: number;
        };
        /** @description What a task spent, counted once for each response of a provider. */
        UsageView: {
            /**
             * Format: int64
             * @description Tokens written to a cache.
             */
            cacheCreationTokens: number;
            /**
             * Format: int64
             * @description Tokens read from a cache.
             */
            cacheReadTokens: number;
            /**
             * Format: double
             * @description What the client itself says that it cost.
             */
            clientCostUsd?: number | null;
            /**
             * Format: double
             * @description What it cost by our price table, in US dollars.
             */
            costUsd: number;
            /**
             * Format: int64
             * @description Input tokens, without those read from or written to a cache.
             */
            inputTokens: number;
            /**
             * Format: int64
             * @description Output tokens, reasoning included.
             */
            outputTokens: number;
            /** @description What the sums rest on. */
            provenance: components["schemas"]["UsageProvenance"];
            /**
             * Format: int64
             * @description Reasoning tokens, which are inside the output tokens.
             */
            reasoningTokens?: number | null;
            residual?: null | components["schemas"]["Residual"];
        };
        /**
         * @description What a task waits for.
         * @enum {string}
         */
        WaitingReason: "permission" | "question" | "elicitation" | "plan" | "idle";
        /** @description A look-up in the web. */
        WebLookup: {
            /** @description The domains that a search was limited to. */
            allowedDomains?: string[];
            /** @description The domains that a search left out. */
            blockedDomains?: string[];
            /** @description Their hosts. */
            domains: string[];
            /**
             * Format: int64
             * @description How long it took.
             */
            durationMs?: number | null;
            /** @description The row's id. */
            id: string;
            /**
             * Format: date-time
             * @description When.
             */
            occurredAt: string;
            /** @description What was asked of the page. */
            prompt?: string | null;
            /** @description What was searched for. */
            query?: string | null;
            /** @description Where it stands. */
            state?: string | null;
            /** @description The task. */
            taskId: string;
            /** @description What a person reads. */
            title: string;
            /** @description The addresses. */
            urls: string[];
            /** @description `web_search` or `web_fetch`. */
            what: string;
        };
        /** @description A part of a list, and where the next part begins. */
        WebLookupPage: {
            /** @description The items of this part, in the list's order. */
            items: components["schemas"]["WebLookup"][];
            /** @description Give this as `cursor` to get the next part. Absent at the end. */
            nextCursor?: string;
        };
        /** @description One part of a request that is wrong. */
        Wrong: {
            /** @description The parameter, or the place in the body as a JSON pointer. */
            at: string;
            /** @description What is wrong with it. */
            reason: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
