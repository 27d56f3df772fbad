/** Generated from `crates/server/openapi.json` by `npm run types`. */
export interface paths {
    "/api/runtime-session-end": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["endSessionByItsOldName"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runtime-session-ensure": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["ensureSessionByItsOldName"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/activity": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listActivity"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listAgents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/attention": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listAttention"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/commands": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listCommands"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/dead-letters": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listDeadLetters"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/dead-letters/{name}/requeue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["requeueDeadLetter"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/events/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getEvent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/failures": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listFailures"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listFiles"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/limits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listLimits"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/login-codes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["makeLoginCode"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/loops": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listLoops"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/mcp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listMcp"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/policies": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listPolicies"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/policies/backtest": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["backtestPolicy"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/policies/decisions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listDecisions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["search"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getSettings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/skills": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listSkills"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["stream"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/supported-agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listSupportedAgents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listTasks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getTask"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{id}/commands": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listTaskCommands"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{id}/compaction-items": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listTaskCompactionItems"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{id}/compactions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listTaskCompactions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{id}/context": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listTaskContext"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{id}/exploration": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listTaskExploration"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{id}/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listTaskFiles"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{id}/lanes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getTaskLanes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{id}/permissions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listTaskPermissions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{id}/questions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listTaskQuestions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{id}/summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getTaskSummary"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{id}/timeline": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listTaskTimeline"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{id}/todos": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listTaskTodos"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{id}/tool-calls": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listTaskToolCalls"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{id}/tree": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getTaskTree"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{id}/turns": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listTaskTurns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{id}/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listTaskUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{id}/web": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listTaskWeb"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tools": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listTools"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/usage/blocks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listUsageBlocks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getLiveness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/hooks/claude": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postClaudeHook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/hooks/codex": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postCodexHook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ingest/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postEvents"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ingest/v1/sessions/end": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["endSession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ingest/v1/sessions/ensure": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["ensureSession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ingest/v1/shipments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postShipment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getMetrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postLogs"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postMetrics"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/traces": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postTraces"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        ActiveRule: {
            decision: components["schemas"]["Decision"];
            description?: string | null;
            enabled: boolean;
            events: string[];
            /** Format: int64 */
            line: number;
            matches: string[];
            mode: components["schemas"]["Mode"];
            name: string;
            onOutage: components["schemas"]["OnOutage"];
            origin: components["schemas"]["Origin"];
            project?: string | null;
            reason?: string;
            severity: components["schemas"]["Severity"];
            source: string;
        };
        ActivityBucket: {
            /** Format: date-time */
            at: string;
            /** Format: double */
            costUsd: number;
            /** Format: int64 */
            events: number;
            /** Format: int64 */
            failures: number;
            /** Format: int64 */
            inputTokens: number;
            /** Format: int64 */
            outputTokens: number;
            /** Format: int64 */
            toolCalls: number;
            /** Format: int64 */
            toolMs: number;
            /** Format: int64 */
            waitingMs: number;
        };
        ActivityBucketPage: {
            items: components["schemas"]["ActivityBucket"][];
            nextCursor?: string;
        };
        /** @enum {string} */
        AgentId: "claude_code" | "codex";
        AgentStat: {
            agentType: string;
            /** Format: int64 */
            failures: number;
            /** Format: int64 */
            runMs: number;
            /** Format: int64 */
            tasks: number;
            /** Format: int64 */
            toolCalls: number;
            /** Format: int64 */
            toolMs: number;
            usage: components["schemas"]["UsageView"];
        };
        AgentStatPage: {
            items: components["schemas"]["AgentStat"][];
            nextCursor?: string;
        };
        Attention: {
            agent: components["schemas"]["AgentId"];
            agentType: string;
            owner?: string | null;
            project: string;
            reason: components["schemas"]["WaitingReason"];
            rowId?: string | null;
            /** Format: date-time */
            since: string;
            taskId: string;
            text?: string | null;
            title: string;
        };
        AttentionPage: {
            items: components["schemas"]["Attention"][];
            nextCursor?: string;
        };
        AuditEntry: {
            /** Format: date-time */
            at: string;
            owner: string;
            question: string;
            reader: string;
            taskId?: string | null;
        };
        AuditEntryPage: {
            items: components["schemas"]["AuditEntry"][];
            nextCursor?: string;
        };
        Backtest: {
            /** Format: int64 */
            calls: number;
            complete: boolean;
            /** Format: int64 */
            moments: number;
            outcomes: components["schemas"]["Decisions"];
            rules: components["schemas"]["RuleReport"][];
            /** Format: date-time */
            since: string;
            stoppedBy?: null | components["schemas"]["ReplayLimit"];
            /** Format: int64 */
            tasks: number;
            /** Format: date-time */
            until: string;
        };
        BacktestRequest: {
            policy: string;
        };
        BlockForecast: {
            /** Format: double */
            costPerHourUsd?: number | null;
            /** Format: double */
            costUsd?: number | null;
            /** Format: int64 */
            tokens: number;
            /** Format: double */
            tokensPerMinute: number;
        };
        /** @enum {string} */
        CallState: "running" | "succeeded" | "failed" | "denied" | "interrupted" | "abandoned";
        /** @enum {string} */
        CaptureLevel: "metadata" | "actions" | "full";
        /** @enum {string} */
        Certainty: "guessed" | "inferred" | "reported" | "measured";
        /** @enum {string} */
        Channel: "http" | "hook" | "otlp" | "transcript";
        CommandRun: {
            command: string;
            /** Format: int64 */
            durationMs?: number | null;
            effect: string;
            errorClass?: ("interrupt" | "permission" | "timeout" | "not_found" | "network" | "invalid_input" | "non_zero_exit" | "hook_blocked" | "policy_denied" | "unknown") | string | null;
            /** Format: int64 */
            exitCode?: number | null;
            failureMasked: boolean;
            id: string;
            /** Format: date-time */
            occurredAt: string;
            state: components["schemas"]["CallState"];
            taskId: string;
            title: string;
        };
        CommandRunPage: {
            items: components["schemas"]["CommandRun"][];
            nextCursor?: string;
        };
        CommandStat: {
            command: string;
            /** Format: int64 */
            count: number;
            /** Format: int64 */
            failures: number;
            /** Format: double */
            meanMs?: number | null;
            /** Format: int64 */
            totalMs: number;
        };
        CommandStatPage: {
            items: components["schemas"]["CommandStat"][];
            nextCursor?: string;
        };
        Compaction: {
            after: components["schemas"]["CompactionSide"];
            /** Format: date-time */
            at?: string | null;
            before: components["schemas"]["CompactionSide"];
            /** Format: int64 */
            number: number;
            /** Format: int64 */
            offset: number;
            /** Format: int64 */
            postTokens?: number | null;
            /** Format: int64 */
            preTokens?: number | null;
            /** Format: int64 */
            seenBytes?: number | null;
            seenSha256?: string | null;
            summary?: string | null;
            trigger?: string | null;
            unchanged?: boolean | null;
        };
        CompactionItem: {
            /** Format: date-time */
            at?: string | null;
            /** Format: int64 */
            bytes: number;
            /** Format: int64 */
            offset: number;
            part: string;
            /** Format: int64 */
            place: number;
            text?: string | null;
            tool?: string | null;
        };
        CompactionItemPage: {
            items: components["schemas"]["CompactionItem"][];
            nextCursor?: string;
        };
        CompactionPage: {
            items: components["schemas"]["Compaction"][];
            nextCursor?: string;
        };
        CompactionSide: {
            /** Format: int64 */
            bytes: number;
            pieces: Record<string, never>;
        };
        ContextPoint: {
            /** Format: date-time */
            at: string;
            /** Format: double */
            costUsd?: number | null;
            estimated?: boolean;
            /** Format: double */
            fiveHourUsedPct?: number | null;
            id: string;
            kind: components["schemas"]["ContextPointKind"];
            model?: string | null;
            /** Format: double */
            sevenDayUsedPct?: number | null;
            title?: string | null;
            /** Format: int64 */
            totalTokens?: number | null;
            /** Format: double */
            usedPct?: number | null;
            /** Format: int64 */
            windowSize?: number | null;
        };
        /** @enum {string} */
        ContextPointKind: "snapshot" | "compaction" | "model_switch";
        ContextPointPage: {
            items: components["schemas"]["ContextPoint"][];
            nextCursor?: string;
        };
        DeadLetter: {
            /** Format: date-time */
            arrivedAt?: string | null;
            /** Format: int64 */
            bytes: number;
            name: string;
            reason: string;
        };
        DeadLetterPage: {
            items: components["schemas"]["DeadLetter"][];
            nextCursor?: string;
        };
        /** @enum {string} */
        Decision: "allow" | "rewrite" | "warn" | "ask" | "deny" | "stop";
        Decisions: {
            /** Format: int64 */
            allowed: number;
            /** Format: int64 */
            asked: number;
            /** Format: int64 */
            denied: number;
            /** Format: int64 */
            rewritten: number;
            /** Format: int64 */
            stopped: number;
            /** Format: int64 */
            warned: number;
        };
        EndAnswer: {
            sessionId: string;
            taskId: string;
            taskStatus: components["schemas"]["TaskStatus"];
        };
        EndRequest: {
            backgroundCompletions?: string[] | null;
            completeTask?: boolean | null;
            /** @enum {string|null} */
            completionReason?: "idle" | "assistant_turn_complete" | "explicit_exit" | "runtime_terminated" | "cleared" | "abandoned" | null;
            runtimeSessionId: string;
            /** @example claude_code */
            runtimeSource: string;
            summary?: string | null;
        };
        EnsureAnswer: {
            sessionCreated: boolean;
            sessionId: string;
            taskCreated: boolean;
            taskId: string;
        };
        EnsureRequest: {
            origin?: string | null;
            parentSessionId?: string | null;
            parentTaskId?: string | null;
            resume?: boolean | null;
            runtimeSessionId: string;
            /** @example claude_code */
            runtimeSource: string;
            taskId?: string | null;
            title?: string | null;
            workspacePath?: string | null;
        };
        EntryDetail: {
            certainty: components["schemas"]["Certainty"];
            channel: components["schemas"]["Channel"];
            entryId: string;
            evidence: string;
            fields: Record<string, never>;
            machineId: string;
            /** Format: date-time */
            occurredAt: string;
            phase: components["schemas"]["Phase"];
            /** Format: int64 */
            seq: number;
        };
        EventDetail: {
            entries: components["schemas"]["EntryDetail"][];
            fieldChannels: {
                [key: string]: components["schemas"]["Channel"];
            };
            row: components["schemas"]["Row"];
        };
        EventMetadata: {
            accountSession?: string;
            action?: string;
            activeForm?: string | Record<string, never>;
            activityType?: string;
            agentDescription?: string | Record<string, never>;
            agentEffort?: string;
            agentId?: string;
            agentIds?: unknown[];
            agentModel?: string;
            agentName?: string;
            agentNickname?: string;
            agentPath?: string;
            agentPermissionMode?: string;
            agentResolvedModel?: string;
            agentRunInBackground?: boolean;
            agentSource?: string;
            agentTarget?: string;
            agentTaskName?: string;
            agentTranscriptPath?: string;
            agentType?: string;
            allowedPromptCount?: number;
            answerCount?: number;
            answeredBy?: string;
            artifactAction?: string;
            artifactTitle?: string | Record<string, never>;
            asyncStatus?: string;
            asyncTaskId?: string;
            attachmentCount?: number;
            attempt?: unknown;
            attributionAgent?: string;
            attributionMcpServer?: string;
            attributionMcpTool?: string;
            attributionPlugin?: string;
            attributionRule?: string;
            attributionSkill?: string;
            backgroundDurationMs?: number;
            backgroundEndedAt?: string;
            backgroundStatus?: string;
            backgroundTaskCount?: number;
            backgroundTaskId?: string;
            backgroundTasks?: unknown[];
            baseOrdinal?: number;
            batchId?: string;
            blocked?: boolean;
            body?: Record<string, never>;
            bytes?: number;
            cacheCreation1hTokens?: number;
            cacheCreation5mTokens?: number;
            cacheTtl?: string;
            callId?: string;
            callSignature?: string;
            calledTools?: unknown[];
            changeType?: string;
            changedBy?: string;
            childAgentId?: string;
            childNickname?: string;
            childSession?: string;
            childTaskName?: string;
            clientCostUsd?: number;
            closedBy?: string;
            command?: string | Record<string, never>;
            commandAnalysis?: Record<string, never>;
            commandArgs?: string | Record<string, never>;
            commandBytes?: number;
            commandName?: string;
            commandSource?: string;
            commitHashes?: unknown[];
            compactPhase?: string;
            compactSummaryBytes?: number;
            completeTask?: boolean;
            completionReason?: ("idle" | "assistant_turn_complete" | "explicit_exit" | "runtime_terminated" | "cleared" | "abandoned" | "cancelled") | string;
            configSource?: string;
            connectionError?: string;
            contentBytes?: number;
            contentLines?: number;
            contextAdditions?: unknown[];
            contextTokens?: number;
            contextWindowCacheCreationTokens?: number;
            contextWindowCacheReadTokens?: number;
            contextWindowInputTokens?: number;
            contextWindowOutputTokens?: number;
            contextWindowRemainingPct?: number;
            contextWindowSize?: number;
            contextWindowTotalTokens?: number;
            contextWindowUsedPct?: number;
            copyOf?: string;
            costTotalUsd?: number;
            counted?: boolean;
            cron?: string | Record<string, never>;
            crossCheck?: Record<string, never>;
            cumulativeDroppedTokens?: number;
            customInstructions?: string | Record<string, never>;
            cwd?: string;
            decision?: string;
            decisionLookUs?: number;
            decisionUs?: number;
            decisionWaitUs?: number;
            delaySeconds?: number;
            delegated?: boolean;
            denialKind?: string;
            deniedBeforeRun?: boolean;
            deniedByRule?: string;
            description?: string | Record<string, never>;
            designOperation?: string;
            directory?: string;
            directorySource?: string;
            discardChanges?: boolean;
            discardedCommits?: number;
            discardedFiles?: number;
            displayFinal?: boolean;
            displayIndex?: number;
            displayMessageId?: string;
            displayTurnId?: string;
            durable?: boolean;
            durationMs?: number;
            durationSource?: string;
            editCount?: number;
            editReplaceAll?: boolean;
            effort?: unknown;
            elicitationId?: string;
            elicitationResult?: boolean;
            endedBy?: string;
            endingKind?: string;
            endpoint?: string;
            endsAgent?: boolean;
            entityName?: string;
            entityType?: ("file" | "directory" | "url" | "query" | "symbol" | "command" | "shell" | "mcp" | "skill" | "agent" | "cron" | "package") | string;
            entrypoint?: string;
            error?: unknown;
            errorClass?: ("interrupt" | "permission" | "timeout" | "not_found" | "network" | "invalid_input" | "non_zero_exit" | "hook_blocked" | "policy_denied" | "unknown") | string;
            errorCode?: string;
            errorDetails?: string | Record<string, never>;
            errorType?: string;
            estimatedCacheWriteUsd?: number;
            eventName?: string;
            evidenceReason?: string;
            executionMs?: number;
            exitCode?: number;
            expandedPromptBytes?: number;
            expandedPromptSnippet?: string;
            expansionType?: string;
            fallbackTrigger?: string;
            feedbackType?: string;
            fileChanges?: unknown[];
            fileCount?: number;
            fileLines?: number;
            fileOperations?: unknown[];
            filePath?: string;
            from?: string;
            fromModel?: string;
            fromPermissionMode?: string;
            globs?: unknown;
            goalStatus?: string;
            grepCaseInsensitive?: boolean;
            grepHeadLimit?: number;
            grepMultiline?: boolean;
            grepOutputMode?: string;
            hookEvent?: string;
            hookName?: string;
            hookRunId?: string;
            httpStatus?: unknown;
            id?: string;
            imageCount?: number;
            importance?: ("minor" | "normal" | "critical") | string;
            inferenceGeo?: string;
            inputBytes?: number;
            interrupt?: boolean;
            interrupted?: boolean;
            interruptedDuring?: string;
            interruptedMessageId?: string;
            isAsync?: boolean;
            isError?: boolean;
            isInterrupt?: boolean;
            isolation?: string;
            itemCount?: number;
            lastAssistantMessage?: string | Record<string, never>;
            linesAdded?: number;
            linesRemoved?: number;
            loadReason?: string;
            lspColumn?: number;
            lspLine?: number;
            lspOperation?: string;
            lspSymbol?: string;
            mainAgentType?: string;
            maxRetries?: number;
            mcpResource?: string;
            mcpServer?: string;
            mcpServerName?: string;
            mcpServerSource?: string;
            mcpServers?: unknown[];
            mcpTool?: string;
            memoryType?: string;
            message?: string | Record<string, never>;
            messageBytes?: number;
            messageCount?: number;
            messageId?: string;
            messageSummary?: string | Record<string, never>;
            messageType?: string;
            mode?: string;
            model?: string;
            modelDisplayName?: string;
            modelId?: string;
            monitorDescription?: string | Record<string, never>;
            monitorFilter?: string | Record<string, never>;
            monitorScript?: string | Record<string, never>;
            monitorUrl?: string;
            newCwd?: string;
            notCounted?: string;
            notebookCellId?: string;
            notebookCellType?: string;
            notebookEditMode?: string;
            notificationDurationMs?: number;
            notificationStatus?: string;
            notificationSummary?: string;
            notificationTaskId?: string;
            notificationToolUseId?: string;
            notificationToolUses?: number;
            notificationType?: string;
            oldCwd?: string;
            operation?: string;
            options?: unknown[];
            otherRateLimits?: unknown[];
            outputBytes?: number;
            outputFilter?: string | Record<string, never>;
            outputHead?: string;
            outputTail?: string;
            ownRequest?: boolean;
            owner?: string;
            parentEventId?: string;
            parentFilePath?: string;
            parentToolUseId?: string;
            partial?: boolean;
            partialUsage?: Record<string, never>;
            patchBytes?: number;
            patchLines?: number;
            payload?: unknown;
            permissionDecision?: string;
            permissionGrantScope?: string;
            permissionMode?: string;
            permissionReason?: string;
            permissionReasonCode?: string;
            permissionRuleSource?: string;
            permissionSource?: string;
            permissionWaitMs?: number;
            planBytes?: number;
            planExplanation?: string | Record<string, never>;
            planType?: string;
            postTokens?: number;
            preTokens?: number;
            pricing?: unknown;
            priority?: string;
            probeKey?: string;
            processId?: string;
            program?: string;
            projectMethod?: string;
            prompt?: string | Record<string, never>;
            promptBytes?: number;
            promptCacheLikelyExpired?: boolean;
            promptCacheWarm?: boolean;
            promptCharactersCount?: number;
            promptId?: string;
            promptOrigin?: string;
            promptSource?: string;
            purpose?: string;
            querySource?: string;
            questionCount?: number;
            questionPhase?: string;
            questions?: unknown[];
            rateLimitFiveHourResetsAt?: string;
            rateLimitFiveHourUsedPct?: number;
            rateLimitReached?: string;
            rateLimitSevenDayResetsAt?: string;
            rateLimitSevenDayUsedPct?: number;
            readLimit?: number;
            readOffset?: number;
            readOnlyHint?: boolean;
            readPages?: string;
            reason?: string | Record<string, never>;
            recurring?: boolean;
            refusedBy?: string;
            relPath?: string;
            repeatedMessageCount?: number;
            requestId?: string;
            requestPhase?: string;
            requestPrefixHash?: string;
            requestedAt?: number;
            requestedFields?: unknown[];
            requestedModel?: string;
            requestedTitle?: string;
            responseCharactersCount?: number;
            responseId?: string;
            resultFiles?: number;
            resultId?: string;
            resultLines?: number;
            resultMatches?: number;
            resultStartLine?: number;
            resultTaskId?: string;
            resultTruncated?: boolean;
            retryAttempt?: number;
            retryInMs?: number;
            reviewConfidence?: number;
            reviewLevel?: string;
            reviewTarget?: string;
            rowBytes?: number;
            ruleBasis?: string;
            ruleDecision?: string;
            ruleId?: string;
            ruleOutcome?: string;
            rulePolicy?: string;
            ruleProject?: string;
            ruleSource?: string;
            ruleStatus?: string;
            runInBackground?: boolean;
            sandboxDisabled?: boolean;
            sandboxPermissions?: string;
            searchGlob?: string;
            searchLimit?: number;
            searchPath?: string;
            searchPattern?: string | Record<string, never>;
            searchType?: string;
            secondsSinceLastResponse?: number;
            seenIn?: string;
            serviceTier?: string;
            sessionCronCount?: number;
            sessionSource?: string;
            sessionTitle?: string | Record<string, never>;
            sessionVersion?: string;
            severity?: string;
            sidechain?: boolean;
            skillActivation?: string;
            skillArgs?: string | Record<string, never>;
            skillName?: string;
            skillPath?: string;
            skillSource?: string;
            skillTrigger?: string;
            source?: string;
            sourceTool?: string;
            spanMs?: number;
            speed?: string;
            status?: string;
            statusFrom?: string;
            statusTo?: string;
            stop?: boolean;
            stopHookActive?: boolean;
            stopReason?: string | Record<string, never>;
            stoppedTaskType?: string;
            subject?: string | Record<string, never>;
            subtypeGroup?: ("files" | "search" | "web" | "shell" | "file_ops" | "execution" | "coordination" | "planning") | string;
            subtypeKey?: ("read_file" | "glob_files" | "grep_code" | "list_files" | "web_search" | "web_fetch" | "shell_probe" | "create_file" | "modify_file" | "delete_file" | "rename_file" | "apply_patch" | "run_command" | "run_test" | "run_build" | "run_lint" | "install_dependency" | "vcs" | "verify" | "rule_check" | "mcp_call" | "skill_use" | "delegation" | "plan" | "todo" | "question" | "uncategorized") | string;
            subtypeLabel?: string;
            success?: boolean;
            suggestionCount?: number;
            switched?: boolean;
            systemBytes?: number;
            teamName?: string;
            teammateName?: string;
            textBytes?: number;
            thoughtUntil?: number;
            timedOut?: boolean;
            timeoutMs?: number;
            title?: string | Record<string, never>;
            to?: string;
            toModel?: string;
            todoId?: unknown;
            todoState?: string;
            tokenUsage?: Record<string, never>;
            toolDefinitions?: unknown[];
            toolFamily?: ("explore" | "file" | "terminal" | "coordination") | string;
            toolInput?: unknown;
            toolInputSummary?: string;
            toolName?: string;
            toolUseId?: string;
            toolUseIds?: unknown[];
            totalDurationMs?: number;
            totalToolUseCount?: number;
            transcriptBytes?: number;
            transcriptSha256?: string;
            transport?: string;
            trigger?: string;
            triggerAction?: string;
            triggerFilePath?: string;
            triggerId?: string;
            ttftMs?: number;
            url?: string | Record<string, never>;
            usage?: Record<string, never>;
            usageSource?: string;
            userShell?: boolean;
            waitMs?: number;
            waitsForEnd?: boolean;
            webAllowedDomains?: unknown[];
            webBlockedDomains?: unknown[];
            webFetchRequests?: number;
            webPrompt?: string | Record<string, never>;
            webQuery?: string | Record<string, never>;
            webSearchCount?: number;
            webSearchRequests?: number;
            webUrls?: unknown[];
            windowNumber?: number;
            workdir?: string;
            workflowDescription?: string | Record<string, never>;
            workflowName?: string;
            workflowResumedFrom?: string;
            worktreeAction?: string;
            worktreeBranch?: string;
            worktreeName?: string;
            worktreePath?: string;
            writtenAt?: number;
        } & {
            [key: string]: unknown;
        };
        EventsAnswer: {
            /** Format: int64 */
            accepted: number;
            /** Format: int64 */
            duplicates: number;
            rejected: components["schemas"]["RejectedEvent"][];
        };
        EventsRequest: {
            events: components["schemas"]["PostedEvent"][];
        };
        Exploration: {
            caseInsensitive?: boolean | null;
            /** Format: int64 */
            durationMs?: number | null;
            filePaths: string[];
            glob?: string | null;
            id: string;
            /** Format: int64 */
            limit?: number | null;
            mode?: string | null;
            multiline?: boolean | null;
            /** Format: date-time */
            occurredAt: string;
            /** Format: int64 */
            offset?: number | null;
            pattern?: string | null;
            scope?: string | null;
            state?: null | components["schemas"]["CallState"];
            taskId: string;
            title: string;
            toolName?: string | null;
            what: ("read_file" | "glob_files" | "grep_code" | "list_files" | "web_search" | "web_fetch" | "shell_probe" | "create_file" | "modify_file" | "delete_file" | "rename_file" | "apply_patch" | "run_command" | "run_test" | "run_build" | "run_lint" | "install_dependency" | "vcs" | "verify" | "rule_check" | "mcp_call" | "skill_use" | "delegation" | "plan" | "todo" | "question" | "uncategorized") | string;
        };
        ExplorationPage: {
            items: components["schemas"]["Exploration"][];
            nextCursor?: string;
        };
        FailureStat: {
            /** Format: int64 */
            calls: number;
            /** Format: int64 */
            count: number;
            errorClass: ("interrupt" | "permission" | "timeout" | "not_found" | "network" | "invalid_input" | "non_zero_exit" | "hook_blocked" | "policy_denied" | "unknown") | string;
            tool: string;
        };
        FailureStatPage: {
            items: components["schemas"]["FailureStat"][];
            nextCursor?: string;
        };
        FieldError: {
            at: string;
            reason: string;
        };
        FileStat: {
            /** Format: int64 */
            changes: number;
            path: string;
            project: string;
            /** Format: int64 */
            reads: number;
        };
        FileStatPage: {
            items: components["schemas"]["FileStat"][];
            nextCursor?: string;
        };
        FileUse: {
            by: components["schemas"]["FileUser"][];
            /** Format: int64 */
            changes: number;
            /** Format: int64 */
            failures: number;
            /** Format: date-time */
            firstAt: string;
            /** Format: date-time */
            lastAt: string;
            path: string;
            /** Format: int64 */
            reads: number;
        };
        FileUsePage: {
            items: components["schemas"]["FileUse"][];
            nextCursor?: string;
        };
        FileUser: {
            agentType: string;
            /** Format: int64 */
            count: number;
            taskId: string;
        };
        /** @enum {string} */
        ForecastConfidence: "low" | "medium" | "high";
        Health: {
            faults?: null | components["schemas"]["StoreFaults"];
            import?: null | components["schemas"]["ImportHealth"];
            /** Format: int64 */
            lagMs: number;
            outcomes?: null | components["schemas"]["OutcomeCounts"];
            problems: string[];
            reasons?: components["schemas"]["OutcomeReason"][] | null;
            retention: components["schemas"]["RetentionHealth"];
            /** Format: int64 */
            seq?: number | null;
            ship?: null | components["schemas"]["ShipHealth"];
            sources?: components["schemas"]["SourceHealth"][] | null;
            spool: components["schemas"]["SpoolHealth"];
            status: components["schemas"]["HealthStatus"];
            store?: null | components["schemas"]["StoreHealth"];
            unrecognised?: components["schemas"]["UnrecognisedName"][] | null;
            version: string;
        };
        /** @enum {string} */
        HealthStatus: "ok" | "degraded";
        Hit: {
            row: components["schemas"]["Row"];
            snippet: string;
            taskTitle: string;
        };
        HitPage: {
            items: components["schemas"]["Hit"][];
            nextCursor?: string;
        };
        ImportHealth: {
            /** Format: int64 */
            bytes: number;
            /** Format: int64 */
            bytesTotal: number;
            /** Format: int64 */
            files: number;
            /** Format: int64 */
            filesTotal: number;
            /** Format: int64 */
            rows: number;
            running: boolean;
        };
        /** @enum {string} */
        Kind: "session.started" | "session.ended" | "user.message" | "user.prompt.expansion" | "assistant.response" | "assistant.commentary" | "thought.logged" | "instructions.loaded" | "context.saved" | "context.snapshot" | "model.switched" | "model.request" | "token.usage" | "tool.used" | "terminal.command" | "monitor.observed" | "agent.activity.logged" | "plan.logged" | "action.logged" | "question.logged" | "todo.logged" | "permission.request" | "rule.logged" | "setup.triggered" | "file.changed" | "worktree.create" | "worktree.remove" | "turn.interrupted" | "teammate.idle" | "unrecognised";
        /** @enum {string} */
        Lane: "user" | "assistant" | "exploration" | "planning" | "implementation" | "rule" | "questions" | "todos" | "background" | "coordination" | "telemetry";
        LaneBin: {
            /** Format: int64 */
            busyMs: number;
            certainty: components["schemas"]["Certainty"];
            /** Format: int32 */
            count: number;
            /** Format: int64 */
            end: number;
            /** Format: int32 */
            failures: number;
            id?: string | null;
            kind?: null | components["schemas"]["Kind"];
            running: boolean;
            /** Format: int64 */
            start: number;
            title: string;
            tool?: string | null;
            /** Format: int32 */
            track: number;
        };
        LaneBins: {
            /** Format: date-time */
            from: string;
            gaps: number[][];
            strips: components["schemas"]["LaneStrip"][];
            /** Format: date-time */
            to: string;
            /** Format: int32 */
            width: number;
        };
        LaneStrip: {
            bins: components["schemas"]["LaneBin"][];
            lane: components["schemas"]["Lane"];
            taskId: string;
        };
        Limit: {
            agent: components["schemas"]["AgentId"];
            /** Format: date-time */
            at: string;
            forecast?: null | components["schemas"]["LimitForecast"];
            owner?: string | null;
            /** Format: date-time */
            resetsAt?: string | null;
            /** Format: double */
            usedPct: number;
            window: components["schemas"]["LimitWindow"];
        };
        LimitForecast: {
            certainty: components["schemas"]["ForecastConfidence"];
            /** Format: date-time */
            fullAt?: string | null;
            /** Format: double */
            pctAtReset?: number | null;
            /** Format: double */
            pctPerHour: number;
            /** Format: int64 */
            points: number;
        };
        LimitPage: {
            items: components["schemas"]["Limit"][];
            nextCursor?: string;
        };
        /** @enum {string} */
        LimitWindow: "five_hour" | "seven_day";
        Liveness: {
            status: components["schemas"]["HealthStatus"];
            version: string;
        };
        LoginCode: {
            /** Format: date-time */
            expiresAt: string;
            path: string;
        };
        Loop: {
            /** Format: int64 */
            count: number;
            /** Format: int64 */
            failures: number;
            /** Format: date-time */
            firstAt: string;
            /** Format: date-time */
            lastAt: string;
            lastId: string;
            owner?: string | null;
            taskId: string;
            title: string;
            tool: string;
        };
        LoopPage: {
            items: components["schemas"]["Loop"][];
            nextCursor?: string;
        };
        McpStat: {
            /** Format: int64 */
            count: number;
            /** Format: int64 */
            failures: number;
            server: string;
            tool: string;
            /** Format: int64 */
            totalMs: number;
        };
        McpStatPage: {
            items: components["schemas"]["McpStat"][];
            nextCursor?: string;
        };
        /** @enum {string} */
        Mode: "enforce" | "dry_run";
        /** @enum {string} */
        OnOutage: "allow" | "ask" | "deny";
        /** @enum {string} */
        Origin: "user" | "trusted_project" | "project";
        /** @enum {string} */
        Outcome: "recorded" | "duplicate" | "unrecognised" | "malformed" | "refused";
        OutcomeCounts: {
            /** Format: int64 */
            duplicate: number;
            /** Format: int64 */
            malformed: number;
            /** Format: int64 */
            received: number;
            /** Format: int64 */
            recorded: number;
            /** Format: int64 */
            refused: number;
            /** Format: int64 */
            unrecognised: number;
        };
        OutcomeReason: {
            channel: components["schemas"]["Channel"];
            /** Format: int64 */
            count: number;
            /** Format: date-time */
            lastAt: string;
            outcome: components["schemas"]["Outcome"];
            reason: string;
        };
        PageCheck: {
            /** Format: int64 */
            checked: number;
            /** Format: int64 */
            lastRoundAgeMs?: number | null;
            /** Format: int64 */
            pages: number;
            remadeBecause?: string | null;
            /** Format: int64 */
            rounds: number;
            /** Format: int64 */
            sumsRemade: number;
        };
        Permission: {
            callId?: string | null;
            decision?: ("allowed" | "denied") | string | null;
            id: string;
            /** Format: date-time */
            occurredAt: string;
            /** Format: int64 */
            suggestionCount?: number | null;
            taskId: string;
            title: string;
            toolInputSummary?: string | null;
            toolName?: string | null;
            toolUseId?: string | null;
            /** Format: int64 */
            waitMs?: number | null;
        };
        PermissionPage: {
            items: components["schemas"]["Permission"][];
            nextCursor?: string;
        };
        /** @enum {string} */
        Phase: "open" | "update" | "close";
        Policies: {
            /** Format: int32 */
            deadlineMs: number;
            files: components["schemas"]["PolicyFile"][];
            items: components["schemas"]["Policy"][];
            past: components["schemas"]["RuleStat"][];
            problems: string[];
        };
        Policy: components["schemas"]["ActiveRule"] & {
            counts: components["schemas"]["RuleStat"];
        };
        PolicyFile: {
            origin: components["schemas"]["Origin"];
            path: string;
            problem?: string | null;
            project?: string | null;
            /** Format: int64 */
            rules: number;
            sha256?: string | null;
        };
        PostedEvent: {
            body?: string | null;
            filePaths?: string[] | null;
            id?: string | null;
            kind: ("session.started" | "session.ended" | "user.message" | "user.prompt.expansion" | "assistant.response" | "assistant.commentary" | "thought.logged" | "instructions.loaded" | "context.saved" | "context.snapshot" | "model.switched" | "model.request" | "token.usage" | "tool.used" | "terminal.command" | "monitor.observed" | "agent.activity.logged" | "plan.logged" | "action.logged" | "question.logged" | "todo.logged" | "permission.request" | "rule.logged" | "setup.triggered" | "file.changed" | "worktree.create" | "worktree.remove" | "turn.interrupted" | "teammate.idle" | "unrecognised") | string;
            lane?: null | components["schemas"]["Lane"];
            metadata?: null | components["schemas"]["EventMetadata"];
            /** Format: date-time */
            occurredAt?: string | null;
            parentEventId?: string | null;
            runtimeSessionId?: string | null;
            runtimeSource?: string | null;
            sessionId?: string | null;
            taskId?: string | null;
            title?: string | null;
        };
        Problem: {
            detail: string;
            errors: components["schemas"]["FieldError"][];
            /** Format: int32 */
            status: number;
            title: string;
            type: string;
        };
        Question: {
            /** Format: int64 */
            answerCount?: number | null;
            id: string;
            /** Format: date-time */
            occurredAt: string;
            phase: ("asked" | "answered" | "declined" | "cancelled") | string;
            questions: Record<string, never>[];
            taskId: string;
            title: string;
            /** Format: int64 */
            waitMs?: number | null;
        };
        QuestionPage: {
            items: components["schemas"]["Question"][];
            nextCursor?: string;
        };
        RejectedEvent: {
            id?: string | null;
            /** Format: int64 */
            index: number;
            reason: string;
        };
        /** @enum {string} */
        ReplayLimit: "time" | "stopped";
        ReplayMatch: {
            agentType: string;
            decision: components["schemas"]["Decision"];
            event: string;
            /** Format: date-time */
            occurredAt: string;
            rowId: string;
            state?: null | components["schemas"]["CallState"];
            taskId: string;
            title: string;
            tool?: string | null;
        };
        Residual: components["schemas"]["Tokens"] & {
            /** Format: double */
            clientCostUsd?: number | null;
            /** Format: double */
            costUsd: number;
            models?: components["schemas"]["ResidualModel"][];
            reason: string;
        };
        ResidualModel: components["schemas"]["Tokens"] & {
            /** Format: double */
            costUsd?: number | null;
            model: string;
            reason: string;
        };
        RetentionHealth: {
            /** Format: int32 */
            days?: number | null;
            /** Format: int64 */
            events: number;
            /** Format: date-time */
            lastAt?: string | null;
            /** Format: int64 */
            tasks: number;
        };
        Row: {
            agentId?: string | null;
            agentType: string;
            body?: string | null;
            certainty: components["schemas"]["Certainty"];
            channels: components["schemas"]["Channel"][];
            /** Format: date-time */
            endedAt?: string | null;
            filePaths: string[];
            hookEventName?: string | null;
            id: string;
            isSubagent: boolean;
            kind: components["schemas"]["Kind"];
            lane: components["schemas"]["Lane"];
            metadata: components["schemas"]["EventMetadata"];
            /** Format: date-time */
            occurredAt: string;
            owner?: string | null;
            runtimeSessionId: string;
            /** Format: int64 */
            seq: number;
            sessionId: string;
            state?: null | components["schemas"]["CallState"];
            taskId: string;
            title: string;
            toolName?: string | null;
            toolUseId?: string | null;
            turnId?: string | null;
        };
        RowPage: {
            items: components["schemas"]["Row"][];
            nextCursor?: string;
        };
        RuleDecision: {
            answeredBy: ("server" | "guard" | "outage") | string;
            basis: ("applies" | "outage" | "not_possible" | "let_go") | string;
            callId?: string | null;
            decision: ("allow" | "rewrite" | "warn" | "ask" | "deny" | "stop") | string;
            id: string;
            inputs: components["schemas"]["RuleInputs"];
            /** @enum {string} */
            mode: "enforce" | "dry_run";
            /** Format: date-time */
            occurredAt: string;
            origin: ("user" | "trusted_project" | "project") | string;
            outcome: ("allow" | "rewrite" | "warn" | "ask" | "deny" | "block_stop") | string;
            owner?: string | null;
            rule: string;
            ruleProject?: string | null;
            severity?: ("info" | "low" | "medium" | "high" | "critical") | string | null;
            status: ("enforced" | "dry_run" | "held_back" | "let_go") | string;
            taskId: string;
            title: string;
            /** Format: int64 */
            tookUs?: number | null;
        };
        RuleDecisionPage: {
            items: components["schemas"]["RuleDecision"][];
            nextCursor?: string;
        };
        RuleInputs: {
            agent: components["schemas"]["AgentId"];
            agentType: string;
            cwd?: string | null;
            event?: string | null;
            isSubagent: boolean;
            toolName?: string | null;
            toolUseId?: string | null;
        };
        RuleReport: {
            decision: components["schemas"]["Decision"];
            decisions: components["schemas"]["Decisions"];
            events: string[];
            examples: components["schemas"]["ReplayMatch"][];
            /** Format: int64 */
            heldBack: number;
            /** Format: int64 */
            line: number;
            mode: components["schemas"]["Mode"];
            name: string;
            notJudged: components["schemas"]["UnevaluatedEvents"][];
            origin: components["schemas"]["Origin"];
        };
        RuleStat: {
            /** Format: int64 */
            count: number;
            /** Format: int64 */
            dryRun: number;
            /** Format: int64 */
            enforced: number;
            /** Format: int64 */
            heldBack: number;
            /** Format: date-time */
            lastAt?: string | null;
            /** Format: int64 */
            letGo: number;
            /** Format: int64 */
            meanUs: number;
            outcomes: {
                [key: string]: number;
            };
            project?: string | null;
            rule: string;
        };
        SessionView: {
            completionReason?: ("idle" | "assistant_turn_complete" | "explicit_exit" | "runtime_terminated" | "cleared" | "abandoned" | "cancelled") | string | null;
            /** Format: date-time */
            endedAt?: string | null;
            id: string;
            source?: ("startup" | "resume" | "clear" | "fork" | "compact") | string | null;
            /** Format: date-time */
            startedAt: string;
        };
        Settings: {
            address: string;
            /** Format: int64 */
            excluded: number;
            mayWrite: boolean;
            /** Format: int64 */
            ownPrices: number;
            privacyLevel: components["schemas"]["CaptureLevel"];
            /** Format: int32 */
            retentionDays?: number | null;
            timeZone: string;
            version: string;
        };
        /** @enum {string} */
        Severity: "info" | "low" | "medium" | "high" | "critical";
        ShipHealth: {
            /** Format: int64 */
            behind: number;
            problem?: string | null;
            to: string;
        };
        ShipmentAnswer: {
            /** Format: int64 */
            clamped?: number;
        };
        SkillStat: {
            /** Format: double */
            costShare?: number | null;
            /** Format: int64 */
            count: number;
            /** Format: int64 */
            failures: number;
            skill: string;
            usage: components["schemas"]["UsageView"];
        };
        SkillStatPage: {
            items: components["schemas"]["SkillStat"][];
            nextCursor?: string;
        };
        SourceHealth: {
            /** Format: int64 */
            bytes: number;
            /** Format: int64 */
            files: number;
            /** Format: date-time */
            lastAt?: string | null;
            name: string;
            /** Format: int64 */
            observations: number;
            problem?: string | null;
        };
        SpoolHealth: {
            lost: Record<string, never>;
            /** Format: int64 */
            quarantined: number;
            /** Format: int64 */
            waiting: number;
        };
        StoreFaults: {
            /** Format: int64 */
            changedPages: number;
            check: components["schemas"]["PageCheck"];
            /** Format: int64 */
            damagedCommits: number;
            /** Format: int64 */
            damagedPages: number;
            /** Format: int64 */
            damagedPosts: number;
            /** Format: int64 */
            parkedFiles: number;
            problems: string[];
            /** Format: int64 */
            readFailures: number;
            recording: boolean;
            /** Format: int64 */
            setAside: number;
            writeFailures: Record<string, never>;
        };
        StoreHealth: {
            /** Format: int64 */
            bytes: number;
            /** Format: int64 */
            entries: number;
            /** Format: int64 */
            events: number;
            kind: components["schemas"]["StoreKind"];
            /** Format: int32 */
            schema: number;
            /** Format: int64 */
            searchLag: number;
            /** Format: int64 */
            tasks: number;
        };
        /** @enum {string} */
        StoreKind: "sqlite" | "clickhouse";
        SupportedAgent: {
            darkColour: string;
            id: string;
            lightColour: string;
            mark: string;
            modelPrefix?: string | null;
            name: string;
            shortName: string;
            word: string;
        };
        SupportedAgentPage: {
            items: components["schemas"]["SupportedAgent"][];
            nextCursor?: string;
        };
        Task: {
            agent: components["schemas"]["AgentId"];
            agentId?: string | null;
            agentType: string;
            /** Format: int64 */
            childCount: number;
            clientVersion?: string | null;
            /** Format: double */
            contextUsedPct?: number | null;
            continuesTaskId?: string | null;
            current?: string | null;
            /** Format: date-time */
            endedAt?: string | null;
            /** Format: int64 */
            eventCount: number;
            /** Format: int64 */
            failureCount: number;
            forkedFromTaskId?: string | null;
            gitBranch?: string | null;
            id: string;
            kind: components["schemas"]["TaskKind"];
            /** Format: date-time */
            lastEventAt: string;
            machineId: string;
            model?: string | null;
            owner?: string | null;
            parentCertainty?: null | components["schemas"]["Certainty"];
            parentTaskId?: string | null;
            parentToolUseId?: string | null;
            project: string;
            runtimeSessionId: string;
            stale: boolean;
            /** Format: date-time */
            startedAt: string;
            status: components["schemas"]["TaskStatus"];
            title: string;
            /** Format: int64 */
            toolCallCount: number;
            /** Format: int64 */
            treeFailureCount: number;
            /** Format: int64 */
            treeToolCallCount: number;
            treeUsage: components["schemas"]["UsageView"];
            /** Format: int64 */
            turnCount: number;
            usage: components["schemas"]["UsageView"];
            waitingReason?: null | components["schemas"]["WaitingReason"];
            /** Format: date-time */
            waitingSince?: string | null;
            workspacePath: string;
        };
        /** @enum {string} */
        TaskKind: "primary" | "background";
        TaskPage: {
            items: components["schemas"]["Task"][];
            nextCursor?: string;
        };
        /** @enum {string} */
        TaskStatus: "running" | "waiting" | "completed" | "failed" | "abandoned";
        TaskSummary: {
            /** Format: int64 */
            activeMs: number;
            /** Format: int64 */
            agents: number;
            /** Format: int64 */
            compactions: number;
            /** Format: int64 */
            durationMs: number;
            /** Format: int64 */
            failures: number;
            /** Format: int64 */
            filesChanged: number;
            /** Format: int64 */
            filesRead: number;
            /** Format: int64 */
            permissions: number;
            permissionsRecorded: boolean;
            sessions: components["schemas"]["SessionView"][];
            taskId: string;
            /** Format: int64 */
            toolCalls: number;
            /** Format: int64 */
            turns: number;
            usage: components["schemas"]["UsageView"];
            /** Format: int64 */
            waitingMs: number;
        };
        Todo: {
            history: components["schemas"]["TodoStep"][];
            priority?: string | null;
            state: ("added" | "in_progress" | "completed" | "cancelled") | string;
            subject: string;
            taskId: string;
            todoId: string;
        };
        TodoPage: {
            items: components["schemas"]["Todo"][];
            nextCursor?: string;
        };
        TodoStep: {
            /** Format: date-time */
            at: string;
            id: string;
            state: ("added" | "in_progress" | "completed" | "cancelled") | string;
        };
        Tokens: {
            /** Format: int64 */
            cacheCreationTokens: number;
            /** Format: int64 */
            cacheReadTokens: number;
            /** Format: int64 */
            inputTokens: number;
            /** Format: int64 */
            outputTokens: number;
            /** Format: int64 */
            reasoningTokens?: number | null;
        };
        ToolCall: {
            agentId?: string | null;
            channels: components["schemas"]["Channel"][];
            /** Format: int64 */
            durationMs?: number | null;
            durationSource?: ("agent" | "tracer") | string | null;
            /** Format: date-time */
            endedAt?: string | null;
            errorClass?: ("interrupt" | "permission" | "timeout" | "not_found" | "network" | "invalid_input" | "non_zero_exit" | "hook_blocked" | "policy_denied" | "unknown") | string | null;
            /** Format: int64 */
            exitCode?: number | null;
            id: string;
            /** Format: int64 */
            permissionWaitMs?: number | null;
            /** Format: date-time */
            startedAt: string;
            state: components["schemas"]["CallState"];
            taskId: string;
            title: string;
            toolName: string;
            toolUseId?: string | null;
            turnId?: string | null;
        };
        ToolCallPage: {
            items: components["schemas"]["ToolCall"][];
            nextCursor?: string;
        };
        ToolStat: {
            /** Format: int64 */
            count: number;
            /** Format: int64 */
            failures: number;
            /** Format: double */
            p50Ms?: number | null;
            /** Format: double */
            p95Ms?: number | null;
            /** Format: double */
            p99Ms?: number | null;
            tool: string;
            /** Format: int64 */
            totalMs: number;
        };
        ToolStatPage: {
            items: components["schemas"]["ToolStat"][];
            nextCursor?: string;
        };
        TreeNode: {
            /** Format: int32 */
            depth: number;
            task: components["schemas"]["Task"];
        };
        TreeNodePage: {
            items: components["schemas"]["TreeNode"][];
            nextCursor?: string;
        };
        Turn: {
            answer?: string | null;
            /** Format: int64 */
            clientDurationMs?: number | null;
            /** Format: int64 */
            durationMs?: number | null;
            /** Format: date-time */
            endedAt?: string | null;
            /** Format: int64 */
            failureCount: number;
            id: string;
            /** Format: int64 */
            number: number;
            prompt?: string | null;
            promptOrigin?: string | null;
            /** Format: date-time */
            startedAt: string;
            state: components["schemas"]["CallState"];
            stopReason?: string | null;
            taskId: string;
            /** Format: int64 */
            toolCallCount: number;
            usage: components["schemas"]["UsageView"];
        };
        TurnPage: {
            items: components["schemas"]["Turn"][];
            nextCursor?: string;
        };
        UnevaluatedEvents: {
            /** Format: int64 */
            count?: number | null;
            reason: string;
        };
        UnrecognisedName: {
            agent: components["schemas"]["AgentId"];
            clientVersion: string;
            /** Format: int64 */
            count: number;
            name: string;
            what: string;
        };
        UsageBlock: {
            /** Format: date-time */
            endsAt: string;
            forecast?: null | components["schemas"]["BlockForecast"];
            isActive: boolean;
            /** Format: date-time */
            lastAt: string;
            /** Format: date-time */
            startedAt: string;
            usage: components["schemas"]["UsageView"];
        };
        UsageBlockPage: {
            items: components["schemas"]["UsageBlock"][];
            nextCursor?: string;
        };
        UsageBucket: {
            key: string;
            label?: string | null;
            owner?: string | null;
            usage: components["schemas"]["UsageView"];
        };
        UsageBucketPage: {
            items: components["schemas"]["UsageBucket"][];
            nextCursor?: string;
        };
        UsageProvenance: {
            /** Format: int64 */
            copies: number;
            /** Format: int64 */
            responses: number;
            /** Format: int64 */
            unpriced: number;
        };
        UsageView: components["schemas"]["Tokens"] & {
            /** Format: double */
            clientCostUsd?: number | null;
            /** Format: double */
            costUsd: number;
            provenance: components["schemas"]["UsageProvenance"];
            residual?: null | components["schemas"]["Residual"];
        };
        /** @enum {string} */
        WaitingReason: "permission" | "question" | "elicitation" | "plan" | "idle";
        WebLookup: {
            allowedDomains?: string[];
            blockedDomains?: string[];
            domains: string[];
            /** Format: int64 */
            durationMs?: number | null;
            id: string;
            /** Format: date-time */
            occurredAt: string;
            prompt?: string | null;
            query?: string | null;
            state?: null | components["schemas"]["CallState"];
            taskId: string;
            title: string;
            urls: string[];
            what: ("web_search" | "web_fetch") | string;
        };
        WebLookupPage: {
            items: components["schemas"]["WebLookup"][];
            nextCursor?: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    endSessionByItsOldName: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EndRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EndAnswer"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    ensureSessionByItsOldName: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EnsureRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EnsureAnswer"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listActivity: {
        parameters: {
            query?: {
                buckets?: number;
                owner?: string;
                machine?: string;
                project?: string;
                agent?: "claude_code" | "codex";
                agentType?: string;
                since?: string;
                until?: string;
                tz?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActivityBucketPage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listAgents: {
        parameters: {
            query?: {
                owner?: string;
                machine?: string;
                project?: string;
                agent?: "claude_code" | "codex";
                agentType?: string;
                since?: string;
                until?: string;
                tz?: string;
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentStatPage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listAttention: {
        parameters: {
            query?: {
                owner?: string;
                machine?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AttentionPage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listAudit: {
        parameters: {
            query?: {
                of?: string;
                by?: string;
                since?: string;
                until?: string;
                tz?: string;
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditEntryPage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listCommands: {
        parameters: {
            query?: {
                owner?: string;
                machine?: string;
                project?: string;
                agent?: "claude_code" | "codex";
                agentType?: string;
                since?: string;
                until?: string;
                tz?: string;
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CommandStatPage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listDeadLetters: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeadLetterPage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    requeueDeadLetter: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getEvent: {
        parameters: {
            query?: {
                owner?: string;
                machine?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventDetail"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listFailures: {
        parameters: {
            query?: {
                owner?: string;
                machine?: string;
                project?: string;
                agent?: "claude_code" | "codex";
                agentType?: string;
                since?: string;
                until?: string;
                tz?: string;
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FailureStatPage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listFiles: {
        parameters: {
            query?: {
                owner?: string;
                machine?: string;
                project?: string;
                agent?: "claude_code" | "codex";
                agentType?: string;
                since?: string;
                until?: string;
                tz?: string;
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileStatPage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getHealth: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listLimits: {
        parameters: {
            query?: {
                owner?: string;
                machine?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LimitPage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    makeLoginCode: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LoginCode"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listLoops: {
        parameters: {
            query?: {
                owner?: string;
                machine?: string;
                project?: string;
                agent?: "claude_code" | "codex";
                agentType?: string;
                since?: string;
                until?: string;
                tz?: string;
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LoopPage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listMcp: {
        parameters: {
            query?: {
                owner?: string;
                machine?: string;
                project?: string;
                agent?: "claude_code" | "codex";
                agentType?: string;
                since?: string;
                until?: string;
                tz?: string;
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["McpStatPage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listPolicies: {
        parameters: {
            query?: {
                owner?: string;
                machine?: string;
                since?: string;
                until?: string;
                tz?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Policies"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    backtestPolicy: {
        parameters: {
            query?: {
                since?: string;
                tz?: string;
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BacktestRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Backtest"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listDecisions: {
        parameters: {
            query?: {
                rule?: string;
                decision?: ("allow" | "rewrite" | "warn" | "ask" | "deny" | "block_stop")[];
                mode?: "enforce" | "dry_run";
                task?: string;
                owner?: string;
                machine?: string;
                since?: string;
                until?: string;
                tz?: string;
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RuleDecisionPage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    search: {
        parameters: {
            query?: {
                q?: string;
                tool?: string;
                state?: "running" | "succeeded" | "failed" | "denied" | "interrupted" | "abandoned";
                kind?: "session.started" | "session.ended" | "user.message" | "user.prompt.expansion" | "assistant.response" | "assistant.commentary" | "thought.logged" | "instructions.loaded" | "context.saved" | "context.snapshot" | "model.switched" | "model.request" | "token.usage" | "tool.used" | "terminal.command" | "monitor.observed" | "agent.activity.logged" | "plan.logged" | "action.logged" | "question.logged" | "todo.logged" | "permission.request" | "rule.logged" | "setup.triggered" | "file.changed" | "worktree.create" | "worktree.remove" | "turn.interrupted" | "teammate.idle" | "unrecognised";
                longerThanMs?: number;
                task?: string;
                owner?: string;
                machine?: string;
                project?: string;
                agent?: "claude_code" | "codex";
                agentType?: string;
                since?: string;
                until?: string;
                tz?: string;
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HitPage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getSettings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Settings"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listSkills: {
        parameters: {
            query?: {
                owner?: string;
                machine?: string;
                project?: string;
                agent?: "claude_code" | "codex";
                agentType?: string;
                since?: string;
                until?: string;
                tz?: string;
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SkillStatPage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    stream: {
        parameters: {
            query?: {
                after?: string;
                task?: string;
                tree?: boolean;
                lane?: ("user" | "assistant" | "exploration" | "planning" | "implementation" | "rule" | "questions" | "todos" | "background" | "coordination" | "telemetry")[];
                kind?: ("session.started" | "session.ended" | "user.message" | "user.prompt.expansion" | "assistant.response" | "assistant.commentary" | "thought.logged" | "instructions.loaded" | "context.saved" | "context.snapshot" | "model.switched" | "model.request" | "token.usage" | "tool.used" | "terminal.command" | "monitor.observed" | "agent.activity.logged" | "plan.logged" | "action.logged" | "question.logged" | "todo.logged" | "permission.request" | "rule.logged" | "setup.triggered" | "file.changed" | "worktree.create" | "worktree.remove" | "turn.interrupted" | "teammate.idle" | "unrecognised")[];
                agent?: "claude_code" | "codex";
                project?: string;
                owner?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["Row"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listSupportedAgents: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SupportedAgentPage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listTasks: {
        parameters: {
            query?: {
                status?: ("running" | "waiting" | "completed" | "failed" | "abandoned")[];
                model?: string;
                q?: string;
                parent?: string;
                kind?: "primary" | "background";
                failedCalls?: boolean;
                owner?: string;
                machine?: string;
                project?: string;
                agent?: "claude_code" | "codex";
                agentType?: string;
                since?: string;
                until?: string;
                tz?: string;
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskPage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getTask: {
        parameters: {
            query?: {
                owner?: string;
                machine?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listTaskCommands: {
        parameters: {
            query?: {
                owner?: string;
                machine?: string;
                lane?: ("user" | "assistant" | "exploration" | "planning" | "implementation" | "rule" | "questions" | "todos" | "background" | "coordination" | "telemetry")[];
                kind?: ("session.started" | "session.ended" | "user.message" | "user.prompt.expansion" | "assistant.response" | "assistant.commentary" | "thought.logged" | "instructions.loaded" | "context.saved" | "context.snapshot" | "model.switched" | "model.request" | "token.usage" | "tool.used" | "terminal.command" | "monitor.observed" | "agent.activity.logged" | "plan.logged" | "action.logged" | "question.logged" | "todo.logged" | "permission.request" | "rule.logged" | "setup.triggered" | "file.changed" | "worktree.create" | "worktree.remove" | "turn.interrupted" | "teammate.idle" | "unrecognised")[];
                newestFirst?: boolean;
                tree?: boolean;
                since?: string;
                until?: string;
                tz?: string;
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CommandRunPage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listTaskCompactionItems: {
        parameters: {
            query?: {
                owner?: string;
                machine?: string;
                number?: number;
                side?: "before" | "after";
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CompactionItemPage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listTaskCompactions: {
        parameters: {
            query?: {
                owner?: string;
                machine?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CompactionPage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listTaskContext: {
        parameters: {
            query?: {
                owner?: string;
                machine?: string;
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ContextPointPage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listTaskExploration: {
        parameters: {
            query?: {
                owner?: string;
                machine?: string;
                lane?: ("user" | "assistant" | "exploration" | "planning" | "implementation" | "rule" | "questions" | "todos" | "background" | "coordination" | "telemetry")[];
                kind?: ("session.started" | "session.ended" | "user.message" | "user.prompt.expansion" | "assistant.response" | "assistant.commentary" | "thought.logged" | "instructions.loaded" | "context.saved" | "context.snapshot" | "model.switched" | "model.request" | "token.usage" | "tool.used" | "terminal.command" | "monitor.observed" | "agent.activity.logged" | "plan.logged" | "action.logged" | "question.logged" | "todo.logged" | "permission.request" | "rule.logged" | "setup.triggered" | "file.changed" | "worktree.create" | "worktree.remove" | "turn.interrupted" | "teammate.idle" | "unrecognised")[];
                newestFirst?: boolean;
                tree?: boolean;
                since?: string;
                until?: string;
                tz?: string;
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExplorationPage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listTaskFiles: {
        parameters: {
            query?: {
                owner?: string;
                machine?: string;
                tree?: boolean;
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileUsePage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getTaskLanes: {
        parameters: {
            query?: {
                owner?: string;
                machine?: string;
                from?: string;
                to?: string;
                width?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LaneBins"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listTaskPermissions: {
        parameters: {
            query?: {
                owner?: string;
                machine?: string;
                lane?: ("user" | "assistant" | "exploration" | "planning" | "implementation" | "rule" | "questions" | "todos" | "background" | "coordination" | "telemetry")[];
                kind?: ("session.started" | "session.ended" | "user.message" | "user.prompt.expansion" | "assistant.response" | "assistant.commentary" | "thought.logged" | "instructions.loaded" | "context.saved" | "context.snapshot" | "model.switched" | "model.request" | "token.usage" | "tool.used" | "terminal.command" | "monitor.observed" | "agent.activity.logged" | "plan.logged" | "action.logged" | "question.logged" | "todo.logged" | "permission.request" | "rule.logged" | "setup.triggered" | "file.changed" | "worktree.create" | "worktree.remove" | "turn.interrupted" | "teammate.idle" | "unrecognised")[];
                newestFirst?: boolean;
                tree?: boolean;
                since?: string;
                until?: string;
                tz?: string;
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PermissionPage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listTaskQuestions: {
        parameters: {
            query?: {
                owner?: string;
                machine?: string;
                lane?: ("user" | "assistant" | "exploration" | "planning" | "implementation" | "rule" | "questions" | "todos" | "background" | "coordination" | "telemetry")[];
                kind?: ("session.started" | "session.ended" | "user.message" | "user.prompt.expansion" | "assistant.response" | "assistant.commentary" | "thought.logged" | "instructions.loaded" | "context.saved" | "context.snapshot" | "model.switched" | "model.request" | "token.usage" | "tool.used" | "terminal.command" | "monitor.observed" | "agent.activity.logged" | "plan.logged" | "action.logged" | "question.logged" | "todo.logged" | "permission.request" | "rule.logged" | "setup.triggered" | "file.changed" | "worktree.create" | "worktree.remove" | "turn.interrupted" | "teammate.idle" | "unrecognised")[];
                newestFirst?: boolean;
                tree?: boolean;
                since?: string;
                until?: string;
                tz?: string;
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QuestionPage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getTaskSummary: {
        parameters: {
            query?: {
                owner?: string;
                machine?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskSummary"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listTaskTimeline: {
        parameters: {
            query?: {
                owner?: string;
                machine?: string;
                lane?: ("user" | "assistant" | "exploration" | "planning" | "implementation" | "rule" | "questions" | "todos" | "background" | "coordination" | "telemetry")[];
                kind?: ("session.started" | "session.ended" | "user.message" | "user.prompt.expansion" | "assistant.response" | "assistant.commentary" | "thought.logged" | "instructions.loaded" | "context.saved" | "context.snapshot" | "model.switched" | "model.request" | "token.usage" | "tool.used" | "terminal.command" | "monitor.observed" | "agent.activity.logged" | "plan.logged" | "action.logged" | "question.logged" | "todo.logged" | "permission.request" | "rule.logged" | "setup.triggered" | "file.changed" | "worktree.create" | "worktree.remove" | "turn.interrupted" | "teammate.idle" | "unrecognised")[];
                newestFirst?: boolean;
                tree?: boolean;
                since?: string;
                until?: string;
                tz?: string;
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RowPage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listTaskTodos: {
        parameters: {
            query?: {
                owner?: string;
                machine?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TodoPage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listTaskToolCalls: {
        parameters: {
            query?: {
                owner?: string;
                machine?: string;
                lane?: ("user" | "assistant" | "exploration" | "planning" | "implementation" | "rule" | "questions" | "todos" | "background" | "coordination" | "telemetry")[];
                kind?: ("session.started" | "session.ended" | "user.message" | "user.prompt.expansion" | "assistant.response" | "assistant.commentary" | "thought.logged" | "instructions.loaded" | "context.saved" | "context.snapshot" | "model.switched" | "model.request" | "token.usage" | "tool.used" | "terminal.command" | "monitor.observed" | "agent.activity.logged" | "plan.logged" | "action.logged" | "question.logged" | "todo.logged" | "permission.request" | "rule.logged" | "setup.triggered" | "file.changed" | "worktree.create" | "worktree.remove" | "turn.interrupted" | "teammate.idle" | "unrecognised")[];
                newestFirst?: boolean;
                tree?: boolean;
                since?: string;
                until?: string;
                tz?: string;
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolCallPage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getTaskTree: {
        parameters: {
            query?: {
                owner?: string;
                machine?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TreeNodePage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listTaskTurns: {
        parameters: {
            query?: {
                owner?: string;
                machine?: string;
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TurnPage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listTaskUsage: {
        parameters: {
            query?: {
                owner?: string;
                machine?: string;
                by?: "model" | "skill" | "agentType" | "task";
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsageBucketPage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listTaskWeb: {
        parameters: {
            query?: {
                owner?: string;
                machine?: string;
                lane?: ("user" | "assistant" | "exploration" | "planning" | "implementation" | "rule" | "questions" | "todos" | "background" | "coordination" | "telemetry")[];
                kind?: ("session.started" | "session.ended" | "user.message" | "user.prompt.expansion" | "assistant.response" | "assistant.commentary" | "thought.logged" | "instructions.loaded" | "context.saved" | "context.snapshot" | "model.switched" | "model.request" | "token.usage" | "tool.used" | "terminal.command" | "monitor.observed" | "agent.activity.logged" | "plan.logged" | "action.logged" | "question.logged" | "todo.logged" | "permission.request" | "rule.logged" | "setup.triggered" | "file.changed" | "worktree.create" | "worktree.remove" | "turn.interrupted" | "teammate.idle" | "unrecognised")[];
                newestFirst?: boolean;
                tree?: boolean;
                since?: string;
                until?: string;
                tz?: string;
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebLookupPage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listTools: {
        parameters: {
            query?: {
                owner?: string;
                machine?: string;
                project?: string;
                agent?: "claude_code" | "codex";
                agentType?: string;
                since?: string;
                until?: string;
                tz?: string;
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolStatPage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listUsage: {
        parameters: {
            query?: {
                by?: "day" | "week" | "month" | "model" | "project" | "task" | "agent" | "agentType" | "skill" | "owner" | "machine";
                owner?: string;
                machine?: string;
                project?: string;
                agent?: "claude_code" | "codex";
                agentType?: string;
                since?: string;
                until?: string;
                tz?: string;
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsageBucketPage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listUsageBlocks: {
        parameters: {
            query?: {
                owner?: string;
                machine?: string;
                project?: string;
                agent?: "claude_code" | "codex";
                agentType?: string;
                since?: string;
                until?: string;
                tz?: string;
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsageBlockPage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getLiveness: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Liveness"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    postClaudeHook: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": unknown;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    postCodexHook: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": unknown;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    postEvents: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EventsRequest"];
            };
        };
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventsAnswer"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    endSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EndRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EndAnswer"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    ensureSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EnsureRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EnsureAnswer"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    postShipment: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": unknown;
            };
        };
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ShipmentAnswer"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getMetrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": unknown;
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    postLogs: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": unknown;
                "application/x-protobuf": unknown;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    postMetrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": unknown;
                "application/x-protobuf": unknown;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    postTraces: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": unknown;
                "application/x-protobuf": unknown;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
}
