import { runningState } from '../../client/find-service.ts'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { quoted } from '../../base/command-hints.ts'
import { usageError, messageOf } from '../../base/errors.ts'
import { command } from '../../kit/command.ts'
import type { Context } from '../../kit/context.ts'
import { APPS, App, filesOf, settingsOf } from './init-files.ts'
import type { ProjectFile } from './init-files.ts'

type Written = Pick<ProjectFile, 'file' | 'what'> & { status: 'written' | 'there already' | 'would be written' }

export const init = command({
  command: 'init',
  summary: 'Create a project: a scenario, settings, a sample shop',
  details: `Existing files are kept. No file holds a secret: .env.example lists those that .env needs.
The shop needs ${App.options.map((language) => `${APPS[language].needs} (${language})`).join(', ')}.`,
  examples: ['svc init', 'svc init shop --app node', 'svc init shop --dry-run'],
  flags: {
    folder: { value: 'folder', summary: 'Target folder (the current one)', positional: true },
    dryRun: { summary: 'Show which files would be written, and write none' },
    app: {
      value: 'language',
      summary: 'Language of a sample shop that takes payments and receives webhooks',
      choices: App.options,
    },
  },
  async run(context, input) {
    const folder = resolve(context.io.cwd, input.folder ?? '.')
    const files = filesOf(input.app, settingsOf(context)).map((each): Written => ({
      file: each.file,
      what: each.what,
      status: place(folder, each, input),
    }))
    context.print.list(files, {
      fields: ['file', 'what', 'status'],
      columns: [
        { title: 'file', value: (row) => row.file },
        { title: 'what', value: (row) => row.what, least: 16 },
        { title: '', value: (row) => row.status },
      ],
    })
    if (input.dryRun) context.note('Nothing was written.')
    else if (!context.print.isMachine) context.note(nextSteps(context, input.app, folder).join('\n'))
    if (files.some(({ file, status }) => file === '.gitignore' && status === 'there already'))
      context.note('See that .gitignore has .env and .svc/ in it: secrets and the logins of svc up are there.')
  },
})

function place(
  folder: string,
  { file, text, isProgram }: ProjectFile,
  { dryRun }: { dryRun: boolean },
): Written['status'] {
  const path = resolve(folder, file)
  if (existsSync(path)) return 'there already'
  if (dryRun) return 'would be written'
  try {
    // The project's folder may be new, and what it is in may not: that would be a mistyped path.
    for (const each of [folder, dirname(path)]) if (!existsSync(each)) mkdirSync(each)
    writeFileSync(path, text, { flag: 'wx', mode: isProgram ? 0o755 : 0o644 })
    return 'written'
  } catch (error) {
    throw usageError(`can't write ${path}: ${messageOf(error)}`)
  }
}

function nextSteps({ io, flags, stateDir }: Context, app: App | undefined, folder: string): string[] {
  const place = relative(io.cwd, folder)
  const begin = ['Next:', ...(place === '' ? [] : [`  cd ${quoted(place)}`])]
  // The service that runs here is not found from the folder below by itself.
  const isElsewhere = place !== '' && flags.stateDir === undefined && runningState(stateDir) !== undefined
  const where = isElsewhere ? ` --state-dir ${quoted(relative(folder, stateDir))}` : ''
  if (app === undefined)
    return [...begin, '  svc run scenarios --ephemeral', '  svc up --seed demo', '  svc init . --app node    # a shop']
  return [
    ...begin,
    '  cp .env.example .env    # and fill in its two secrets, as it says',
    `  ${APPS[app].start}`,
    `  svc listen${where} --forward-to localhost:4242    # in another terminal`,
    '  svc run scenarios --ephemeral',
  ]
}
