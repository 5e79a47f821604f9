export type Noun = { name: string; summary: string }

/**
 * The commands in their groups: `nouns` are what `svc --help` prints, at most 40 lines with all around them; `more` are
 * those of `svc help all`. Nothing is loaded from here, so help costs no more than these lines.
 */
export const NOUN_GROUPS = [
  {
    title: 'Run the service',
    nouns: [
      { name: 'up', summary: 'Start everything, with a demo merchant' },
      { name: 'down', summary: 'Stop the service and keep its data' },
      { name: 'status', summary: 'Show whether the service is running' },
      { name: 'doctor', summary: 'Diagnose problems with this installation' },
    ],
    more: [
      { name: 'serve', summary: 'Run the API alone' },
      { name: 'worker', summary: 'Run the worker alone' },
      { name: 'migrate', summary: 'Bring the database up to date' },
      { name: 'backup', summary: 'Verify that a dump can be restored, and is whole' },
      { name: 'config', summary: 'Show and check settings, and manage master keys' },
    ],
  },
  {
    title: 'Take payments',
    nouns: [
      { name: 'register', summary: 'Register a merchant' },
      { name: 'payments', summary: 'Create, follow, refund and cancel payments' },
      { name: 'disputes', summary: 'List, raise, answer and resolve disputes' },
      { name: 'webhooks', summary: 'Receive, inspect and replay webhooks' },
      { name: 'secret', summary: 'Show and rotate the webhook signing secret' },
    ],
    more: [
      { name: 'explain', summary: 'Explain a payment, payout, dispute, delivery or merchant' },
      { name: 'checkout', summary: 'Put the checkout on a page: tokens, look, origins' },
      { name: 'settlements', summary: 'List, close and schedule settlements' },
      { name: 'payouts', summary: 'List, retry and send payouts, and manage their accounts' },
      { name: 'team', summary: "Manage the merchant's team" },
      { name: 'credentials', summary: "Manage API clients: a merchant's, the platform's" },
      { name: 'ob', summary: "Use the Open Banking API as a bank's customer" },
      { name: 'payer', summary: 'Use the payer hub: receipts, mandates, disputes' },
    ],
  },
  {
    title: 'Test an integration',
    nouns: [
      { name: 'sandbox', summary: 'Simulate banks and payers, with scenarios, clock and mail' },
      { name: 'run', summary: 'Run scenarios' },
      { name: 'trigger', summary: 'Trigger a webhook event' },
      { name: 'listen', summary: 'Print events as they happen, and forward them' },
    ],
    more: [{ name: 'init', summary: 'Create a project: a scenario, settings, a sample shop' }],
  },
  {
    title: 'Operate the platform',
    nouns: [
      { name: 'inbox', summary: 'List tasks that need action, most urgent first' },
      { name: 'merchants', summary: 'Manage merchants and their fees' },
      { name: 'kyb', summary: 'Review merchants: approve, suspend, reinstate' },
      { name: 'hold', summary: "Hold and release merchants' payouts" },
      { name: 'audit', summary: 'Read and verify the audit trail' },
      { name: 'ui', summary: 'Open the console' },
    ],
    more: [
      { name: 'balances', summary: 'List balances, one row per currency' },
      { name: 'verify', summary: 'Check the invariants of the database' },
      { name: 'reconcile', summary: 'Compare payments, ledger, bank and statements' },
      { name: 'banks', summary: 'Manage connections to banks: registrations, keys, tests' },
      { name: 'statements', summary: 'Import bank statements and match their lines' },
      { name: 'staff', summary: 'Manage operators, and the signing keys of realms' },
    ],
  },
  {
    title: 'Sign in and explore',
    nouns: [
      { name: 'login', summary: 'Sign in with a browser' },
      { name: 'whoami', summary: 'Show the active identity and its permissions' },
    ],
    more: [
      { name: 'logout', summary: 'Sign out' },
      { name: 'profile', summary: 'Switch between services and identities, print a token' },
      { name: 'api', summary: 'Send a request to any path of the API' },
      { name: 'docs', summary: 'Read and search the documentation' },
      { name: 'open', summary: 'Open a page of the service in the browser' },
      { name: 'completion', summary: 'Print the completion script of a shell' },
      { name: 'help', summary: 'Print help for a command or a topic' },
    ],
  },
] as const satisfies readonly { title: string; nouns: readonly Noun[]; more: readonly Noun[] }[]

type Group = (typeof NOUN_GROUPS)[number]
export type NounName = (Group['nouns'] | Group['more'])[number]['name']

export const NOUNS: readonly (Noun & { name: NounName })[] = NOUN_GROUPS.flatMap(({ nouns, more }) => [
  ...nouns,
  ...more,
])
