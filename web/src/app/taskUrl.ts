/** The address of a task, with parts of its view. */
export function taskUrl(id: string, parts: Record<string, string | undefined> = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parts)) if (value) query.set(name, value);
  const text = query.toString();
  return `/tasks/${encodeURIComponent(id)}${text && `?${text}`}`;
}
