/**
 * Typed requests: each endpoint names a path of the generated `paths`, which gives its parameters, its body and its
 * answer. A path or a parameter that the server renames is a type error here or at the caller.
 */
import type { paths } from './generated/schema';
import type { Filled, Page } from './types';

type Answering = { get: { responses: { 200: { content: { 'application/json': unknown } } } } };

/** The paths that answer a `GET` with JSON. */
export type GetPath = {
  [P in keyof paths & `/api/v1/${string}`]: paths[P] extends Answering ? P : never;
}[keyof paths & `/api/v1/${string}`];

/** Paths of one task or one event. */
export type ItemPath = Extract<GetPath, `${string}/{id}${string}`>;
export type PlainPath = Exclude<GetPath, `${string}{${string}`>;

type NoQuery = Record<never, never>;

/** The paths that take a change. */
export type PostPath = {
  [P in keyof paths & `/api/v1/${string}`]: paths[P] extends { post: { responses: unknown } } ? P : never;
}[keyof paths & `/api/v1/${string}`];

/** The query parameters of a path. */
export type QueryOf<P extends keyof paths, M extends 'get' | 'post' = 'get'> = paths[P] extends {
  [K in M]: { parameters: { query?: infer Q } };
}
  ? [Exclude<Q, undefined>] extends [never]
    ? NoQuery
    : Exclude<Q, undefined>
  : NoQuery;

/** The answer of a path, without the `null`s that the wire never has. */
export type AnswerOf<P extends GetPath> = paths[P] extends {
  get: { responses: { 200: { content: { 'application/json': infer A } } } };
}
  ? Filled<A>
  : never;

/** The body that a change takes. */
export type BodyOf<P extends PostPath> = paths[P] extends {
  post: { requestBody: { content: { 'application/json': infer B } } };
}
  ? B
  : undefined;

/** The answer to a change, where there is one. */
export type ChangedOf<P extends PostPath> = paths[P] extends {
  post: { responses: { 200: { content: { 'application/json': infer A } } } };
}
  ? Filled<A>
  : undefined;

/** The items of the pages of a path. */
export type ItemOf<P extends GetPath> = AnswerOf<P> extends { items: (infer I)[] } ? I : never;

/** A task or an event; on a team's server two people may have the same one. */
export interface ItemRef {
  id: string;
  owner?: string;
}

/** The key of an answer about one task or one event. */
export const answerKey = (view: string, { id, owner }: ItemRef): string => `${view} ${id} ${owner ?? ''}`;

/** Values of a query; what is undefined, false or empty is left out. */
export type QueryValues = Readonly<Record<string, unknown>>;

/** Writes a query. */
export function search(query: object): string {
  const out = new URLSearchParams();
  for (const [name, value] of Object.entries(query as QueryValues)) {
    // The server takes a list as one parameter several times, not as one with commas.
    if (Array.isArray(value)) for (const one of value) out.append(name, String(one));
    else if (value !== undefined && value !== false && value !== '') out.set(name, String(value));
  }
  const text = out.toString();
  return text && `?${text}`;
}

/** Requests a path below `/api/v1/`. */
export type Fetch = <T>(path: string, query: object, signal?: AbortSignal) => Promise<T>;

/** Requests a change below `/api/v1/`. */
export type Send = (path: string, body: unknown, signal?: AbortSignal) => Promise<Response>;

/** All items of a list, or the first so many. */
export interface Listing<T> {
  items: T[];
  complete: boolean;
}

// A task of a hundred thousand rows has two hundred pages; as objects they would take half a gigabyte (ADR 9).
/** Items of a list at which `all` stops. */
const ITEMS_AT_MOST = 5000;
const PAGE_ITEMS = 500;

/** Yields the pages of a list, one after the other. */
export async function* fetchPages<T>(
  get: Fetch,
  path: string,
  query: object,
  signal?: AbortSignal,
): AsyncGenerator<Page<T>> {
  let cursor: string | undefined;
  do {
    const page: Page<T> = await get(path, { limit: PAGE_ITEMS, ...query, cursor }, signal);
    yield page;
    cursor = page.nextCursor;
  } while (cursor);
}

/** Gathers the pages of a list, at most `most` items. */
export async function fetchAll<T>(
  get: Fetch,
  path: string,
  query: object,
  signal?: AbortSignal,
  most = ITEMS_AT_MOST,
): Promise<Listing<T>> {
  const items: T[] = [];
  for await (const page of fetchPages<T>(get, path, query, signal)) {
    for (const item of page.items) items.push(item);
    if (page.nextCursor && items.length >= most) return { items, complete: false };
  }
  return { items, complete: true };
}

const below = (path: string) => path.slice('/api/v1/'.length);
const fill = (path: string, id: string) => below(path).replace('{id}', encodeURIComponent(id));

/** Requests of the whole store. `T` may be more precise than the description, never different from it. */
export function endpoint<P extends PlainPath>(get: Fetch, path: P) {
  return {
    one:
      <T extends AnswerOf<P> = AnswerOf<P>>() =>
      (query: QueryOf<P> = {} as QueryOf<P>, signal?: AbortSignal): Promise<T> =>
        get(below(path), query as object, signal),
    page:
      <T extends ItemOf<P> = ItemOf<P>>() =>
      (query: QueryOf<P> = {} as QueryOf<P>, signal?: AbortSignal): Promise<Page<T>> =>
        get(below(path), query as object, signal),
  };
}

/** A change of the whole store, answered with JSON. */
export function change<P extends Exclude<PostPath, `${string}{${string}`>>(send: Send, path: P) {
  return async (
    body: BodyOf<P>,
    query: QueryOf<P, 'post'> = {} as QueryOf<P, 'post'>,
    signal?: AbortSignal,
  ): Promise<ChangedOf<P>> => (await send(`${below(path)}${search(query as object)}`, body, signal)).json();
}

/** A change of one thing by its name, which has no body and no answer. */
export function namedChange<P extends Extract<PostPath, `${string}/{name}${string}`>>(send: Send, path: P) {
  return async (name: string, signal?: AbortSignal): Promise<void> => {
    await send(below(path).replace('{name}', encodeURIComponent(name)), undefined, signal);
  };
}

/** Requests of one task or one event, of the owner that the reference names. */
export function itemEndpoint<P extends ItemPath>(get: Fetch, path: P) {
  type Query = Omit<QueryOf<P>, 'owner'>;
  const none = {} as Query;
  return {
    one:
      <T extends AnswerOf<P> = AnswerOf<P>>() =>
      ({ id, owner }: ItemRef, query: Query = none, signal?: AbortSignal): Promise<T> =>
        get(fill(path, id), { ...query, owner }, signal),
    page:
      <T extends ItemOf<P> = ItemOf<P>>() =>
      ({ id, owner }: ItemRef, query: Query = none, signal?: AbortSignal): Promise<Page<T>> =>
        get(fill(path, id), { ...query, owner }, signal),
    all:
      <T extends ItemOf<P> = ItemOf<P>>() =>
      ({ id, owner }: ItemRef, query: Query = none, signal?: AbortSignal): Promise<Listing<T>> =>
        fetchAll(get, fill(path, id), { ...query, owner }, signal),
    pages:
      <T extends ItemOf<P> = ItemOf<P>>() =>
      ({ id, owner }: ItemRef, query: Query = none, signal?: AbortSignal): AsyncGenerator<Page<T>> =>
        fetchPages(get, fill(path, id), { ...query, owner }, signal),
  };
}
