import type { NounName } from '../../base/command-names.ts'
import type { AnyAction } from '../../kit/action.ts'
import type { AnyCommand, Group } from '../../kit/command.ts'

export type Declared = AnyAction | AnyCommand | Group
type Declarations = readonly Declared[]

/**
 * What each noun is made of, in the order of its help. Each is loaded when its own word stands on the command line, and
 * with it what it needs: schemas, connections, YAML, the console.
 */
const LISTS: Readonly<Record<NounName, () => Promise<Declarations>>> = {
  up: async () => [(await import('../../service/up.ts')).up],
  down: async () => [(await import('../../service/up/down.ts')).down],
  status: async () => [(await import('../../service/status.ts')).status],
  register: async () => [(await import('../../merchants/register.ts')).register],
  payments: async () => [
    ...(await import('../../payments/commands.ts')).PAYMENTS,
    (await import('../../checkout/payment-link.ts')).link,
  ],
  webhooks: async () => [
    ...(await import('../../webhooks/commands.ts')).WEBHOOKS,
    ...(await import('../../receivers/commands.ts')).RECEIVERS,
  ],
  secret: async () => (await import('../../webhooks/secret.ts')).SECRET,
  explain: async () => [(await import('../../overview/explain.ts')).explain],
  team: async () => (await import('../../team/commands.ts')).TEAM,
  credentials: async () => (await import('../../team/commands.ts')).CREDENTIALS,
  settlements: async () => (await import('../../settlements/commands.ts')).SETTLEMENTS,
  payouts: async () => (await import('../../payouts/commands.ts')).PAYOUTS,
  checkout: async () => (await import('../../checkout/commands.ts')).CHECKOUT,
  ob: async () => (await import('../../open-banking/commands.ts')).OB,
  sandbox: async () => (await import('../commands/sandbox.ts')).SANDBOX,
  listen: async () => [(await import('../../receivers/listen-command.ts')).listen],
  run: async () => [(await import('../../scenario/commands/run.ts')).run],
  trigger: async () => [(await import('../../scenario/commands/trigger.ts')).trigger],
  payer: async () => (await import('../../payer/commands.ts')).PAYER,
  login: async () => [(await import('../../session/login.ts')).login],
  logout: async () => [(await import('../../session/logout.ts')).logout],
  whoami: async () => [(await import('../../session/whoami.ts')).whoami],
  profile: async () => [
    ...(await import('../../session/profile.ts')).PROFILE,
    (await import('../../session/whoami.ts')).token,
  ],
  init: async () => [(await import('../commands/init.ts')).init],
  ui: async () => [(await import('../../console/command.ts')).ui],
  doctor: async () => [(await import('../../service/doctor/commands.ts')).doctor],
  inbox: async () => [(await import('../../overview/inbox.ts')).list],
  merchants: async () => (await import('../../merchants/commands.ts')).MERCHANTS,
  kyb: async () => (await import('../../merchants/commands.ts')).KYB,
  hold: async () => (await import('../../merchants/commands.ts')).HOLD,
  disputes: async () => (await import('../../disputes/commands.ts')).DISPUTES,
  staff: async () => [
    ...(await import('../../team/commands.ts')).STAFF,
    (await import('../../service/staff-bootstrap.ts')).bootstrap,
  ],
  balances: async () => [(await import('../../reconciliation/balances.ts')).list],
  reconcile: async () => [(await import('../../reconciliation/commands.ts')).reconcile],
  verify: async () => [(await import('../../service/verify.ts')).verify],
  banks: async () => (await import('../../banks/commands.ts')).BANKS,
  statements: async () => (await import('../../statements/commands.ts')).STATEMENTS,
  audit: async () => (await import('../../audit/commands.ts')).AUDIT,
  serve: async () => [(await import('../../service/worker.ts')).serve],
  worker: async () => [(await import('../../service/worker.ts')).worker],
  migrate: async () => (await import('../../service/migrate.ts')).MIGRATE,
  backup: async () => (await import('../../service/backup.ts')).BACKUP,
  api: async () => [(await import('../commands/api.ts')).api, (await import('../../service/openapi.ts')).openapi],
  docs: async () => [(await import('../commands/docs.ts')).docs],
  open: async () => [(await import('../commands/open.ts')).open],
  config: async () => [
    ...(await import('../../service/config.ts')).CONFIG,
    ...(await import('../../service/keys/commands.ts')).KEYS,
  ],
  completion: async () => [(await import('../commands/completion.ts')).completion],
  help: async () => [(await import('../commands/help.ts')).help],
}

export function loadNoun(name: NounName): Promise<Declarations> {
  return LISTS[name]()
}
