/** Lint rules beyond types, which `svelte-check` has, and format, which Prettier has. */
import globals from 'globals';
import svelte from 'eslint-plugin-svelte';
import ts from 'typescript-eslint';

import svelteConfig from './svelte.config.js';

export default ts.config(
  { ignores: ['dist/', 'src/api/generated/'] },
  ts.configs.recommended,
  svelte.configs.recommended,
  svelte.configs.prettier,
  {
    languageOptions: { globals: { ...globals.browser, ...globals.node } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      // The compiler says it, and says it about templates too.
      'no-undef': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      // Indexing is checked by the compiler; `!` states what the lines before it made sure of.
      '@typescript-eslint/no-non-null-assertion': 'off',
      // State is replaced as a whole (`$state.raw`), never changed in place; plain maps, sets and dates are right.
      'svelte/prefer-svelte-reactivity': 'off',
      // `{' '}` keeps a blank that the template would lose at the end of a line.
      'svelte/no-useless-mustaches': 'off',
      eqeqeq: 'error',
    },
  },
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: { parserOptions: { parser: ts.parser, extraFileExtensions: ['.svelte'], svelteConfig } },
  },
);
