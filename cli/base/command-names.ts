/** A command right below `svc`: what its first page says of it. What it is made of is loaded when it is asked for. */
export type Noun = { name: string; summary: string }

/** The first page, in its order. Nothing here is loaded from: `svc --help` costs no more than these lines. */
export const NOUN_GROUPS = [
  {
    title: 'Run it:',
    nouns: [
      {
        name: 'up',
        summary: 'start everything: database, API, identity provider, worker and mock bank, with a merchant to try it',
      },
      { name: 'down', summary: 'stop the service of the state directory; its data stays' },
      { name: 'status', summary: 'say whether the service runs and answers; exit code 8 when it does not' },
    ],
  },
  {
    title: 'Work with it:',
    nouns: [
      { name: 'register', summary: 'register a merchant: its realm, its clients and its first administrator' },
      { name: 'payments', summary: 'create, follow, refund, dispute and cancel payments' },
      { name: 'mandates', summary: 'see and end mandates for recurring payments' },
      { name: 'portal', summary: "answer disputes as the payment's merchant" },
      { name: 'webhooks', summary: 'the address webhooks go to, their deliveries, their signatures' },
      { name: 'secret', summary: "the signing secret of the merchant's webhooks, and receivers that verify with it" },
      {
        name: 'explain',
        summary:
          'tell the story of a payment, delivery, dispute or merchant: what happened, why, and what can happen next',
      },
      { name: 'team', summary: "manage the merchant's team" },
      { name: 'credentials', summary: "manage the clients of the merchant's own programs" },
      { name: 'bank-accounts', summary: "manage the accounts that the merchant's payouts go to" },
      { name: 'ledger', summary: 'list payments with their fees, and export them for the books' },
      { name: 'branding', summary: 'set the look of the checkout: its colours, logo and font' },
      { name: 'origins', summary: 'manage the pages that may embed the checkout' },
      { name: 'widget', summary: 'put the checkout on a page: tokens, the snippet, the demo' },
      { name: 'banks', summary: 'see the banks that payers can choose' },
      { name: 'ob', summary: "a bank's customer: accounts, payments, standing orders, requests to pay" },
      { name: 'sandbox', summary: 'play scenarios against a sandbox, let time pass in it, be the payer or the bank' },
      { name: 'mail', summary: "read the sandbox's mail: invitations and the like; live mode keeps none" },
      { name: 'listen', summary: 'short for svc webhooks listen' },
      { name: 'run', summary: 'short for svc sandbox run' },
      { name: 'trigger', summary: 'short for svc sandbox trigger' },
    ],
  },
  {
    title: 'Pay with it:',
    nouns: [{ name: 'payer', summary: 'as a payer: see payments and receipts, cancel mandates, dispute' }],
  },
  {
    title: 'Sign in:',
    nouns: [
      { name: 'login', summary: 'sign in with a browser, here or on another device' },
      { name: 'logout', summary: 'end the session of a profile, here and at the identity provider' },
      {
        name: 'whoami',
        summary: 'say who commands act as, and what that allows; exit code 4 when nobody is signed in',
      },
      { name: 'token', summary: 'print an access token, for curl and other programs' },
      { name: 'profile', summary: 'keep several services and identities, and change between them' },
    ],
  },
  {
    title: 'Operate it:',
    nouns: [
      { name: 'init', summary: "invite the platform's first OWNER; configured by the environment, as svc serve is" },
      {
        name: 'doctor',
        summary: 'look over machine, service, database, identity, mail and webhooks; exit code 1 with findings',
      },
      { name: 'inbox', summary: 'list what waits for you, the most urgent first, each with the command for it' },
      { name: 'logs', summary: 'follow events as they happen' },
      { name: 'ui', summary: 'open the console: everything live in one terminal, with keys' },
      {
        name: 'merchants',
        summary: 'list merchants, disable and enable them, set fees, heal registrations',
      },
      { name: 'kyb', summary: 'review merchants: approve, refuse, suspend and reinstate them' },
      { name: 'hold', summary: 'hold merchants: their payouts and new payments; release them' },
      { name: 'disputes', summary: 'see disputes of all merchants, escalate and resolve them' },
      { name: 'staff', summary: "manage the platform's staff, and the clients of its automation" },
      { name: 'audit', summary: 'see what operators did, when and why, and prove that nothing of it was changed' },
      { name: 'serve', summary: 'run the API alone, configured by the environment' },
      { name: 'worker', summary: 'run the worker alone, configured by the environment; any number may run' },
      { name: 'migrate', summary: 'bring the database up to date' },
      {
        name: 'keys',
        summary: 'the master keys that secrets are sealed under; of the environment, else of the state directory',
      },
    ],
  },
  {
    title: 'Learn about it:',
    nouns: [
      { name: 'api', summary: 'send a request to any path of the service, as who commands act as' },
      { name: 'openapi', summary: 'print the OpenAPI description of the service' },
      { name: 'docs', summary: 'list, read and search the documentation that comes with svc' },
      { name: 'open', summary: 'open a page of the service in the browser' },
      { name: 'samples', summary: 'write a small merchant app that runs, to start from' },
      { name: 'config', summary: 'show the settings and where each came from; check those of svc serve' },
      { name: 'completion', summary: 'print what a shell needs to complete the words of svc' },
      { name: 'states', summary: 'print the state machines that the service runs by' },
      { name: 'version', summary: 'print the version of svc and of what it runs on' },
      { name: 'help', summary: 'help for a command, or about a topic: svc help topics' },
    ],
  },
] as const satisfies readonly { title: string; nouns: readonly Noun[] }[]

export type NounName = (typeof NOUN_GROUPS)[number]['nouns'][number]['name']

/** All of them, in the order of the first page. */
export const NOUNS: readonly (Noun & { name: NounName })[] = NOUN_GROUPS.flatMap(({ nouns }) => [...nouns])
