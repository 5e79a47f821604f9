import { Command, Help, Option } from 'commander'
import { packageVersion } from '../src/lib/package-root.ts'
import { addAudit } from './commands/audit.ts'
import { addBranding } from './commands/branding.ts'
import { addBankAccounts } from './commands/bank-accounts.ts'
import { addBanks } from './commands/banks.ts'
import { addCredentials } from './commands/credentials.ts'
import { addDisputes } from './commands/disputes.ts'
import { addDoctor } from './commands/doctor.ts'
import { addDown } from './commands/down.ts'
import { addFees } from './commands/fees.ts'
import { addExplain } from './commands/explain.ts'
import { addHelp } from './commands/help.ts'
import { addHold } from './commands/hold.ts'
import { addInit } from './commands/init.ts'
import { addKeys } from './commands/keys.ts'
import { addKyb } from './commands/kyb.ts'
import { addLedger } from './commands/ledger.ts'
import { addLogin } from './commands/login.ts'
import { addLogout } from './commands/logout.ts'
import { addMail } from './commands/mail.ts'
import { addMandates } from './commands/mandates.ts'
import { addMerchants } from './commands/merchants.ts'
import { addMigrate } from './commands/migrate.ts'
import { addOb } from './commands/ob.ts'
import { addOutbox } from './commands/outbox.ts'
import { addOrigins } from './commands/origins.ts'
import { addPayer } from './commands/payer.ts'
import { addPayments } from './commands/payments.ts'
import { addPortal } from './commands/portal.ts'
import { addProfile } from './commands/profile.ts'
import { addRegister } from './commands/register.ts'
import { addRun, addSandbox, addTrigger } from './commands/sandbox.ts'
import { addSecret } from './commands/secret.ts'
import { addServe } from './commands/serve.ts'
import { addStaffCommands } from './commands/staff.ts'
import { addStates } from './commands/states.ts'
import { addStatus } from './commands/status.ts'
import { addTeam } from './commands/team.ts'
import { addToken } from './commands/token.ts'
import { addUp } from './commands/up.ts'
import { addVersion } from './commands/version.ts'
import { addWebhooks } from './commands/webhooks.ts'
import { addListen } from './commands/webhooks/listen.ts'
import { addWhoami } from './commands/whoami.ts'
import { addWidget } from './commands/widget.ts'
import { addWorker } from './commands/worker.ts'
import type { Runtime } from './context.ts'
import { takeAnyCase } from './choices.ts'
import { endingOptions, fitHelp, globalBlock } from './help-text.ts'
import { useColor } from './io.ts'
import { OUTPUT_MODES } from './output.ts'

/** The tree of commands: each noun adds itself. Nothing runs before `parseAsync`. */
export function makeProgram(runtime: Runtime): Command {
  const program: Command = prepare(new Command('svc'), runtime)
    .description('Open Banking and account-to-account payments: the service, and the commands to work with it')
    .version(packageVersion(), '-V, --version', 'print the version')
    .helpCommand(false)
    .addHelpText('after', EXAMPLES)
    .addHelpText('afterAll', ({ command }) => globalBlock(program, command, runtime.io))
  addGlobalOptions(program)

  program.commandsGroup('Run it:')
  addUp(program, runtime)
  addDown(program, runtime)
  addStatus(program, runtime)

  program.commandsGroup('Work with it:')
  addRegister(program, runtime)
  addPayments(program, runtime)
  addMandates(program, runtime)
  addPortal(program, runtime)
  addWebhooks(program, runtime)
  addSecret(program, runtime)
  addExplain(program, runtime)
  addTeam(program, runtime)
  addCredentials(program, runtime)
  addBankAccounts(program, runtime)
  addLedger(program, runtime)
  addBranding(program, runtime)
  addOrigins(program, runtime)
  addWidget(program, runtime)
  addBanks(program, runtime)
  addOb(program, runtime)
  addSandbox(program, runtime)
  addMail(program, runtime)
  addListen(program, runtime, 'short for svc webhooks listen')
  addRun(program, runtime, 'short for svc sandbox run')
  addTrigger(program, runtime, 'short for svc sandbox trigger')

  program.commandsGroup('Pay with it:')
  addPayer(program, runtime)

  program.commandsGroup('Sign in:')
  addLogin(program, runtime)
  addLogout(program, runtime)
  addWhoami(program, runtime)
  addToken(program, runtime)
  addProfile(program, runtime)

  program.commandsGroup('Operate it:')
  addInit(program, runtime)
  addDoctor(program, runtime)
  addMerchants(program, runtime)
  addKyb(program, runtime)
  addHold(program, runtime)
  addFees(program, runtime)
  addDisputes(program, runtime)
  addOutbox(program, runtime)
  addStaffCommands(program, runtime)
  addAudit(program, runtime)
  addServe(program, runtime)
  addWorker(program, runtime)
  addMigrate(program, runtime)
  addKeys(program, runtime)

  program.commandsGroup('Learn about it:')
  addStates(program, runtime)
  addVersion(program, runtime)
  addHelp(program, runtime)
  takeAnyCase(program)
  return program
}

const EXAMPLES = `
Examples:
  svc up                         start everything
  svc payments list -o json      for scripts
  svc payments create --amount 50.00 --currency GBP --approve --wait Settled
                                 make a payment and see it through
  svc help global                the options of every command
  svc help exit-codes            what exit codes mean
  svc help environment           the variables that commands read
`

/** Subcommands inherit these settings as long as they are added with `command()`. */
function prepare(program: Command, runtime: Runtime): Command {
  const { io } = runtime
  return program
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(fitHelp(text, io.stdout.isTTY ? io.stdout.columns : Infinity)),
      writeErr: (text) => io.stderr.write(fitHelp(text, io.stderr.isTTY ? io.stderr.columns : Infinity)),
      // Errors are told once, at the end, in the form that was asked for.
      outputError: () => undefined,
      getOutHelpWidth: () => io.stdout.columns,
      getErrHelpWidth: () => io.stderr.columns,
      getOutHasColors: () => useColor('auto', io.env, io.stdout.isTTY),
      getErrHasColors: () => useColor('auto', io.env, io.stderr.isTTY),
    })
    .configureHelp({
      // They stand below everything else, as one block.
      visibleOptions: (command) => {
        const visible = new Help().visibleOptions(command)
        return command.parent === null ? endingOptions(visible) : visible
      },
      styleTitle: (text) => `\u001b[1m${text}\u001b[22m`,
    })
}

function addGlobalOptions(program: Command): void {
  program
    .optionsGroup('Output:')
    .addOption(new Option('-o, --output <form>', 'how results are printed (SVC_OUTPUT)').choices(OUTPUT_MODES))
    .option('--json [fields]', 'short for -o json; --json=a,b keeps only these members')
    .option('-q, --query <path>', 'print only the value at this path, raw: status_history[0].new_status')
    .option('--no-header', 'no header line in tables and CSV')
    .addOption(new Option('--color <when>', 'colours').choices(['auto', 'always', 'never']))
    .optionsGroup('Which service:')
    .option('--api-url <url>', 'the service (SVC_API_URL; else the one of the state directory)')
    .option('-p, --profile <name>', 'who to act as, and where (SVC_PROFILE; else svc profile use)')
    .option('--client-id <id>', 'the client to act as, with SVC_CLIENT_SECRET (SVC_CLIENT_ID; else the demo merchant)')
    .option('--as <name>', "without an identity provider, the operator's name (SVC_PLATFORM_USER; else yours)")
    .option('--state-dir <directory>', 'where svc up keeps its data (SVC_STATE_DIR; .svc)')
}
