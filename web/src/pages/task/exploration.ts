/** What is said of a look beside its subject: which lines, where, how, and what limited it. */
import type { Exploration, WebLookup } from '../../api/types';
import { humanize } from '../../text/format';

/** Which lines were read. */
const lines = ({ offset, limit }: Pick<Exploration, 'offset' | 'limit'>) => {
  if (offset !== undefined) return `lines ${offset}–${limit !== undefined ? offset + limit - 1 : ''}`;
  return limit !== undefined ? `first ${limit} lines` : '';
};

/** The lines that were read, or how a search was limited and done. */
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

/** What was searched for, or the page and what was asked of it. */
export const formatWebSubject = ({ query, prompt, title }: Pick<WebLookup, 'query' | 'prompt' | 'title'>) =>
  [query ?? (prompt ? '' : title), prompt].filter(Boolean).join(' · ');

/** The hosts that answered, and the domains that a search was limited to or left out. */
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
