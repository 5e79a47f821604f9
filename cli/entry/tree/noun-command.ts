import { Command } from 'commander'
import type { AddHelpTextPosition } from 'commander'
import { NOUNS } from '../../base/command-names.ts'
import type { NounName } from '../../base/command-names.ts'
import type { Runtime } from '../../kit/context.ts'

type Handler = (this: Command) => Promise<void> | void

/** A command as its module declares it. It is read and never parsed: what it says becomes data, and its handler is run. */
export class NounCommand extends Command {
  handler: Handler | undefined
  readonly below: string[] = []
  declare readonly commands: NounCommand[]

  override createCommand(name?: string): NounCommand {
    return new NounCommand(name)
  }

  override action(handler: Handler): this {
    this.handler = handler
    return this
  }

  override addHelpText(position: AddHelpTextPosition, text: unknown): this {
    if (position !== 'after' || typeof text !== 'string') throw new TypeError(`${this.name()}: help text is data`)
    this.below.push(text)
    return this
  }
}

export async function loadedNoun(name: NounName, runtime: Runtime): Promise<NounCommand> {
  const { summary = '' } = NOUNS.find((noun) => noun.name === name) ?? {}
  const command = new NounCommand(name).description(summary)
  const add = await loadNoun(name)
  add(command, runtime)
  return command
}

/** Adds to a command that has its name and summary what stands below it: options, arguments, commands, examples. */
type AddNoun = (command: Command, runtime: Runtime) => void

/**
 * What each noun is made of. Each is loaded when its own word stands on the command line, and with it what it needs:
 * schemas, connections, YAML, the console.
 */
const LOADERS: Readonly<Record<NounName, () => Promise<AddNoun>>> = {
  up: async () => (await import('../../service/up.ts')).addUp,
  down: async () => (await import('../../service/up/down.ts')).addDown,
  status: async () => (await import('../../service/status.ts')).addStatus,
  register: async () => (await import('../../merchants/register.ts')).addRegister,
  payments: async () => (await import('../../payments/commands.ts')).addPayments,
  webhooks: async () =>
    both(
      (await import('../../webhooks/commands.ts')).addWebhooks,
      (await import('../../receivers/commands.ts')).addReceivers,
    ),
  secret: async () => (await import('../../webhooks/secret.ts')).addSecret,
  explain: async () => (await import('../../overview/explain.ts')).addExplain,
  team: async () => (await import('../../team/commands.ts')).addTeam,
  credentials: async () => (await import('../../team/commands.ts')).addCredentials,
  settlements: async () => (await import('../../settlements/commands.ts')).addSettlements,
  payouts: async () => (await import('../../payouts/commands.ts')).addPayouts,
  checkout: async () => (await import('../../checkout/commands.ts')).addCheckout,
  ob: async () => (await import('../../open-banking/commands.ts')).addOb,
  sandbox: async () => (await import('../commands/sandbox.ts')).addSandbox,
  listen: async () => (await import('../../receivers/listen-command.ts')).addListen,
  run: async () => (await import('../../scenario/commands/add.ts')).addRun,
  trigger: async () => (await import('../../scenario/commands/add.ts')).addTrigger,
  payer: async () => (await import('../../payer/commands.ts')).addPayer,
  login: async () => (await import('../../session/login.ts')).addLogin,
  logout: async () => (await import('../../session/logout.ts')).addLogout,
  whoami: async () => (await import('../../session/whoami.ts')).addWhoami,
  profile: async () =>
    both((await import('../../session/profile.ts')).addProfile, (await import('../../session/whoami.ts')).addToken),
  init: async () => (await import('../commands/init.ts')).addInit,
  ui: async () => (await import('../../console/command.ts')).addUi,
  doctor: async () => (await import('../../service/doctor/commands.ts')).addDoctor,
  inbox: async () => (await import('../../overview/inbox.ts')).addInbox,
  merchants: async () => (await import('../../merchants/commands.ts')).addMerchants,
  kyb: async () => (await import('../../merchants/commands.ts')).addKyb,
  hold: async () => (await import('../../merchants/read.ts')).addHold,
  disputes: async () => (await import('../../disputes/commands.ts')).addDisputes,
  staff: async () =>
    both(
      (await import('../../team/commands.ts')).addStaff,
      (await import('../../service/staff-bootstrap.ts')).addStaffBootstrap,
    ),
  balances: async () => (await import('../../reconciliation/balances.ts')).addBalances,
  reconcile: async () => (await import('../../reconciliation/commands.ts')).addReconcile,
  banks: async () => (await import('../../banks/commands.ts')).addBanks,
  statements: async () => (await import('../../statements/commands.ts')).addStatements,
  audit: async () => (await import('../../audit/commands.ts')).addAudit,
  serve: async () => (await import('../../service/worker.ts')).addServe,
  worker: async () => (await import('../../service/worker.ts')).addWorker,
  migrate: async () => (await import('../../service/migrate.ts')).addMigrate,
  api: async () =>
    both((await import('../commands/api.ts')).addApi, (await import('../../service/openapi.ts')).addOpenApi),
  docs: async () => (await import('../commands/docs.ts')).addDocs,
  open: async () => (await import('../commands/open.ts')).addOpen,
  config: async () =>
    both((await import('../../service/config.ts')).addConfig, (await import('../../service/keys/commands.ts')).addKeys),
  completion: async () => (await import('../commands/completion.ts')).addCompletion,
  help: async () => (await import('../commands/help.ts')).addHelp,
}

/** A noun whose commands stand in two folders, since the second one builds on the first. */
function both(first: AddNoun, second: AddNoun): AddNoun {
  return (command, runtime) => {
    first(command, runtime)
    second(command, runtime)
  }
}

function loadNoun(name: NounName): Promise<AddNoun> {
  return LOADERS[name]()
}
