import { Command, Help, Option } from 'commander'
import { packageVersion } from '../../src/lib/package-root.ts'
import { collect, takeAnyCase } from '../kit/option-values.ts'
import type { Runtime } from '../kit/context.ts'
import { endingOptions, fitHelp, globalBlock } from './tree/help-text.ts'
import { addGroupExamples } from './tree/group-examples.ts'
import { COLOR_FLAGS, useColor } from '../base/io.ts'
import { loadNoun } from './tree/load-noun.ts'
import { NOUNS, NOUN_GROUPS } from '../base/command-names.ts'
import type { Noun, NounName } from '../base/command-names.ts'
import { addFromOutline } from './tree/from-outline.ts'
import type { FindOutline } from './tree/outline-file.ts'
import { takeOtherVerbs, withoutOtherVerbs } from './tree/other-verbs.ts'
import { OUTPUT_MODES } from '../base/output-modes.ts'

/** Nouns that need nothing heavy: loading them costs no more than their outline would. */
const LIGHT: ReadonlySet<NounName> = new Set(['help', 'version', 'completion'])

/**
 * The tree of commands, as far as these words need it: every noun is there with its name and summary, and those that are
 * among the words have all that stands below them. Nothing runs before `parseAsync`.
 * @param findOutline gives nouns as outlines, whose actions throw NeedsCommand; without it they are loaded
 */
export async function makeProgram(
  runtime: Runtime,
  words: readonly string[],
  findOutline: FindOutline = () => undefined,
): Promise<Command> {
  const program: Command = prepare(new Command('svc'), runtime)
    .description('Open Banking and account-to-account payments: the service, and the commands to work with it')
    .version(packageVersion(), '-V, --version', 'print the version')
    .option('--map [form]', 'print the tree of commands, or that below one: tree, compact, paths, json')
    .helpCommand(false)
    .addHelpText('after', EXAMPLES)
    .addHelpText('afterAll', ({ command }) => globalBlock(program, command, runtime.io))
  addGlobalOptions(program)
  for (const { title, nouns } of NOUN_GROUPS) {
    program.commandsGroup(title)
    for (const noun of nouns) addNoun(program, noun)
  }
  // A word that names a noun and means something else costs a file that is not needed.
  const named = NOUNS.filter(({ name }) => words.includes(name))
  for (const { name } of named) {
    const command = program.commands.find((each) => each.name() === name)
    if (command === undefined) continue
    const outline = LIGHT.has(name) ? undefined : findOutline(name)
    if (outline === undefined) (await loadNoun(name))(command, runtime)
    else addFromOutline(command, outline)
  }
  takeOtherVerbs(program)
  takeAnyCase(program)
  addGroupExamples(program)
  return program
}

/** The tree of commands with everything in it. */
export function makeWholeProgram(runtime: Runtime): Promise<Command> {
  return makeProgram(
    runtime,
    NOUNS.map(({ name }) => name),
  )
}

function addNoun(program: Command, { name, summary }: Noun): void {
  program.command(name).helpCommand(false).description(summary)
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
      writeOut: (text) => {
        const fitting = fitHelp(text, io.stdout.isTTY ? io.stdout.columns : Infinity)
        if (runtime.pager === undefined) io.stdout.write(fitting)
        else runtime.pager.write(fitting)
      },
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
      // The first page says which nouns there are, and their own pages what they take.
      subcommandTerm: (command) =>
        command.parent?.parent === null
          ? [command.name(), ...command.aliases()].join('|')
          : withoutOtherVerbs(new Help().subcommandTerm(command), command),
      commandUsage: (command) => withoutOtherVerbs(new Help().commandUsage(command), command),
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
    .addOption(new Option('--color <when>', 'colours').choices(COLOR_FLAGS))
    .option('--no-pager', 'print what is longer than the terminal as it is (SVC_PAGER, PAGER; less)')
    .option('--no-input', 'ask nothing, and open no editor or browser (SVC_NO_INPUT)')
    .optionsGroup('Which service:')
    .option('--api-url <url>', 'the service (SVC_API_URL; else the one of the state directory)')
    .option('-p, --profile <name>', 'who to act as, and where (SVC_PROFILE; else svc profile use)')
    .option('--client-id <id>', 'the client to act as, with SVC_CLIENT_SECRET (SVC_CLIENT_ID; else the demo merchant)')
    .option('--env <file>', 'variables that the environment does not have; may be repeated', collect)
    .option('--state-dir <directory>', 'where svc up keeps its data (SVC_STATE_DIR; .svc)')
}
