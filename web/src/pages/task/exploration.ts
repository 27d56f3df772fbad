/** The words beside the target of an exploration: lines, scope, filters. */
import type { Exploration, WebLookup } from '../../api/types';
import { humanize } from '../../text/format';

/** Which lines were read. */
const lines = ({ offset, limit }: Pick<Exploration, 'offset' | 'limit'>) => {
  if (offset !== undefined) return `lines ${offset}–${limit !== undefined ? offset + limit - 1 : ''}`;
  return limit !== undefined ? `first ${limit} lines` : '';
};

/** The lines of a read, or the scope and options of a search. */
export const formatScope = (look: Exploration) =>
  [
    lines(look),
    look.scope,
    look.glob && `only ${look.glob}`,
    look.mode && humanize(look.mode),
    look.caseInsensitive && 'any case',
    look.multiline && 'across lines',
  ]
    .filter(Boolean)
    .join(' · ');

/** The query, or the page and the question about it. */
export const formatWebSubject = ({ query, prompt, title }: Pick<WebLookup, 'query' | 'prompt' | 'title'>) =>
  [query ?? (prompt ? '' : title), prompt].filter(Boolean).join(' · ');

/** The hosts that answered, and the allowed and blocked domains of a search. */
export const formatWebScope = ({
  domains,
  allowedDomains,
  blockedDomains,
}: Pick<WebLookup, 'domains' | 'allowedDomains' | 'blockedDomains'>) =>
  [
    domains.join(', '),
    allowedDomains?.length && `only ${allowedDomains.join(', ')}`,
    blockedDomains?.length && `without ${blockedDomains.join(', ')}`,
  ]
    .filter(Boolean)
    .join(' · ');
