import type { Command } from 'commander'
import { z } from 'zod'
import { action } from '../kit/context.ts'
import type { CommandInput, CommandResult, Context, Runtime } from '../kit/context.ts'
import { EXIT } from '../base/exit-codes.ts'
import { fromEnvironment, isSet, ownSettings } from './config-settings.ts'
import type { Setting } from './config-settings.ts'

export function addConfig(config: Command, runtime: Runtime): void {
  config
    .command('show')
    .description('list the settings, with their values and where each came from; secrets are masked')
    .option('--server', 'those of svc serve and svc worker')
    .option('--set', 'only those that are set')
    .addHelpText(
      'after',
      '\nExamples:\n  svc config show\n  svc config show --server --set\n  svc config show -o json\n',
    )
    .action(action(runtime, ShowOptions, show))
  config
    .command('check')
    .description('check the environment as svc serve would; exit code 3 with what is wrong, each by its variable')
    .addHelpText('after', '\nExamples:\n  svc config check\n  svc config check --env production.env\n')
    .action(action(runtime, z.object({}), check))
}

const ShowOptions = z.object({ server: z.boolean().default(false), set: z.boolean().default(false) })

async function show(context: Context, { options }: CommandInput<z.infer<typeof ShowOptions>>): Promise<CommandResult> {
  const all = options.server ? await serverSettings(context) : ownSettings(context)
  context.print.list({
    items: options.set ? all.filter(isSet) : all,
    fields: ['name', 'value', 'source', 'meaning'],
    columns: [
      { title: 'setting', value: (row) => row.name },
      { title: 'value', value: (row) => row.value ?? '-' },
      { title: 'from', value: (row) => row.source },
    ],
    id: (row) => row.name,
    empty: 'Nothing is set.',
  })
  return undefined
}

async function serverSettings({ io }: Context): Promise<Setting[]> {
  const { CONFIG_VARIABLES } = await import('../../src/config/environment.ts')
  return CONFIG_VARIABLES.map(({ name, unset }) => fromEnvironment(io, { name, meaning: '', unset }))
}

async function check(context: Context, _input: CommandInput<object>): Promise<CommandResult> {
  const [{ readConfig }, { ConfigError }] = await Promise.all([
    import('../../src/config/read.ts'),
    import('../../src/config/parse.ts'),
  ])
  try {
    const { mode, identity } = readConfig(context.io.env)
    context.print.record({
      item: { ok: true, mode, identity },
      id: 'ok',
      lines: [
        ['Configuration', 'complete'],
        ['Mode', mode],
        ['Identity', identity],
      ],
    })
    return undefined
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const problems = problemsIn(error.message)
    context.print.list({
      items: problems,
      fields: ['variable', 'problem'],
      columns: [
        { title: 'variable', value: (row) => row.variable },
        { title: 'problem', value: (row) => row.problem },
      ],
      id: (row) => row.variable,
      empty: '',
    })
    context.note(
      `svc serve would not start: ${problems.length} of its variables ${problems.length === 1 ? 'is' : 'are'} wrong.`,
    )
    return EXIT.assertion
  }
}

/** Each line of the service's own message begins with the variable that it is about; it repeats no value. */
function problemsIn(message: string): { variable: string; problem: string }[] {
  const lines = message.split('\n').filter((line) => /SVC_/.test(line))
  return lines.map((line) => {
    const [variable = ''] = /SVC_[A-Z_]+/.exec(line) ?? []
    return { variable, problem: line.trim().replace(new RegExp(`^${variable}: `), '') }
  })
}
