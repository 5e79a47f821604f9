import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import { quoted } from '../../base/command-hints.ts'
import { usageError } from '../../base/errors.ts'
import { ChangeOptions, changing } from '../../kit/change.ts'
import { action } from '../../kit/context.ts'
import type { CommandInput, CommandResult, Context, Runtime } from '../../kit/context.ts'
import { APPS, App, filesOf, settingsOf } from './init-files.ts'
import type { ProjectFile } from './init-files.ts'

const InitOptions = ChangeOptions.pick({ dryRun: true }).extend({ app: App.optional() })
type InitOptions = z.infer<typeof InitOptions>

export function addInit(command: Command, runtime: Runtime): void {
  changing(command, 'Show which files would be written, and write none')
    .argument('[folder]', 'Target folder (the current one)')
    .addOption(
      new Option('--app <language>', 'Language of a sample shop that takes payments and receives webhooks').choices(
        App.options,
      ),
    )
    .addHelpText('after', HELP)
    .action(action(runtime, InitOptions, init))
}

const HELP = `
A file that is there already stays as it is. No file holds a secret: .env.example says which .env needs.
The shop needs ${App.options.map((language) => `${APPS[language].needs} (${language})`).join(', ')}.

Examples:
  svc init
  svc init shop --app node
  svc init shop --dry-run
`

type Written = Pick<ProjectFile, 'file' | 'what'> & { status: 'written' | 'there already' | 'would be written' }

async function init(context: Context, { args, options }: CommandInput<InitOptions>): Promise<CommandResult> {
  const folder = resolve(context.io.cwd, args[0] ?? '.')
  const files = filesOf(options.app, settingsOf(context)).map((each): Written => ({
    file: each.file,
    what: each.what,
    status: place(folder, each, options),
  }))
  context.print.list({
    items: files,
    fields: ['file', 'what', 'status'],
    columns: [
      { title: 'file', value: (row) => row.file },
      { title: 'what', value: (row) => row.what, least: 16 },
      { title: '', value: (row) => row.status },
    ],
    id: (row) => row.file,
    empty: '',
  })
  if (options.dryRun) context.note('Nothing was written.')
  else if (!context.print.isMachine) context.note(nextSteps(options.app, relative(context.io.cwd, folder)).join('\n'))
  if (files.some(({ file, status }) => file === '.gitignore' && status === 'there already'))
    context.note('See that .gitignore has .env and .svc/ in it: secrets and the logins of svc up are there.')
}

function place(folder: string, { file, text, isProgram }: ProjectFile, { dryRun }: InitOptions): Written['status'] {
  const path = resolve(folder, file)
  if (existsSync(path)) return 'there already'
  if (dryRun) return 'would be written'
  try {
    // The project's folder may be new, and what it is in may not: that would be a mistyped path.
    for (const each of [folder, dirname(path)]) if (!existsSync(each)) mkdirSync(each)
    writeFileSync(path, text, { flag: 'wx', mode: isProgram ? 0o755 : 0o644 })
    return 'written'
  } catch (error) {
    throw usageError(`can't write ${path}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function nextSteps(app: App | undefined, folder: string): string[] {
  const begin = ['Next:', ...(folder === '' ? [] : [`  cd ${quoted(folder)}`])]
  if (app === undefined)
    return [...begin, '  svc run scenarios --ephemeral', '  svc up --seed demo', '  svc init . --app node    # a shop']
  return [
    ...begin,
    '  cp .env.example .env    # and fill in its two secrets, as it says',
    `  ${APPS[app].start}`,
    '  svc listen --forward-to localhost:4242    # in another terminal',
    '  svc run scenarios --ephemeral',
  ]
}
