/** A session of a hundred thousand events, as the agent would have written it: a main agent and six subagents, for nine hours. */
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const TOOLS = ['Read', 'Read', 'Read', 'Grep', 'Grep', 'Glob', 'Bash', 'Bash', 'Edit', 'Edit', 'WebFetch', 'TodoWrite'];
const AGENTS = ['main', 'Explore', 'Explore', 'Plan', 'general-purpose', 'general-purpose', 'reviewer'];
const CALLS_PER_TURN = 60;

export const SESSION = '00000000-0000-4000-8000-0000000b1c4e';

/** Numbers that look random and are the same in every run. */
export function dice(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Writes the transcripts of one session below a client's home; each tool call becomes one event, each turn two more. */
export function writeHistory(home, events, endMs) {
  const project = join(home, 'projects/-home-dev-river');
  const children = join(project, SESSION, 'subagents');
  mkdirSync(children, { recursive: true });
  const random = dice(7);
  const each = Math.ceil(events / AGENTS.length);
  const startMs = endMs - 9 * 3_600_000;
  for (const [n, agentType] of AGENTS.entries()) {
    const agentId = n === 0 ? undefined : `a${String(n).repeat(16)}`;
    const file = agentId ? join(children, `agent-${agentId}.jsonl`) : join(project, `${SESSION}.jsonl`);
    if (agentId) writeFileSync(join(children, `agent-${agentId}.meta.json`), JSON.stringify({ agentType, description: `Part ${n} of the work`, spawnDepth: 1 }));
    writeFileSync(file, '');
    writeAgent(file, { n, agentId, each, startMs: startMs + n * 60_000, endMs, random });
  }
}

function writeAgent(file, { n, agentId, each, startMs, endMs, random }) {
  const common = { isSidechain: agentId !== undefined, ...(agentId ? { agentId } : {}), userType: 'external', cwd: '/home/dev/river', sessionId: SESSION, version: '2.1.325', gitBranch: 'main' };
  const stepMs = (endMs - startMs) / each;
  let rows = [];
  let calls = 0;
  let uuid = 0;
  const id = () => `${String(n).padStart(8, '0')}-0000-4000-8000-${String((uuid += 1)).padStart(12, '0')}`;
  const at = (ms) => new Date(ms).toISOString();
  for (let i = 0; i < each; i += 1) {
    const t = startMs + i * stepMs;
    const promptId = `${n}-${Math.floor(i / CALLS_PER_TURN)}`;
    if (i % CALLS_PER_TURN === 0) {
      rows.push({ ...common, type: 'user', uuid: id(), promptId, timestamp: at(t), message: { role: 'user', content: `Go on with part ${Math.floor(i / CALLS_PER_TURN)}` } });
      continue;
    }
    const name = TOOLS[Math.floor(random() * TOOLS.length)];
    const call = `toolu_${n}_${String((calls += 1)).padStart(8, '0')}`;
    const took = Math.min(stepMs * (0.2 + random() * 3), 60_000);
    rows.push({ ...common, type: 'assistant', uuid: id(), timestamp: at(t), requestId: `req_${n}_${i}`, message: { id: `msg_${n}_${i}`, type: 'message', role: 'assistant', model: 'claude-opus-5-5', content: [{ type: 'tool_use', id: call, name, input: input(name, i) }], usage: { input_tokens: 5, output_tokens: 80, cache_read_input_tokens: 30_000 + i, cache_creation_input_tokens: 300 } } });
    rows.push({ ...common, type: 'user', uuid: id(), promptId, timestamp: at(t + took), message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: call, content: 'ok', ...(random() < 0.03 ? { is_error: true } : {}) }] } });
    if (rows.length > 4000) {
      appendFileSync(file, `${rows.map((row) => JSON.stringify(row)).join('\n')}\n`);
      rows = [];
    }
  }
  if (rows.length > 0) appendFileSync(file, `${rows.map((row) => JSON.stringify(row)).join('\n')}\n`);
}

function input(name, i) {
  const file = `/home/dev/river/src/part${i % 97}/file${i % 31}.rs`;
  switch (name) {
    case 'Bash': return { command: `cargo test -p part${i % 97}`, description: 'Run the tests' };
    case 'Grep': return { pattern: `fn step_${i % 53}`, path: '/home/dev/river/src' };
    case 'Glob': return { pattern: '**/*.rs' };
    case 'Edit': return { file_path: file, old_string: 'a', new_string: 'b' };
    case 'WebFetch': return { url: 'https://example.com/', prompt: 'What does it say?' };
    case 'TodoWrite': return { todos: [{ content: 'Go on', status: 'in_progress', activeForm: 'Going on' }] };
    default: return { file_path: file };
  }
}
