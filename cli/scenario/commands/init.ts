import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { z } from 'zod'
import { quoted } from '../../base/command-hints.ts'
import type { CommandInput, CommandResult, Context } from '../../kit/context.ts'
import { usageError } from '../../base/errors.ts'
import { jsonSchema } from '../read/file-schema.ts'
import { starterOf } from '../read/starter.ts'

export const InitOptions = z.object({ dryRun: z.boolean().default(false) })

type Starter = { file: string; what: string; text: () => string }

const FILES: readonly Starter[] = [
  {
    file: 'scenarios/first-payment.yaml',
    what: 'a story to play, with comments',
    text: () => starterOf('first payment'),
  },
  {
    file: 'scenarios/scenario.schema.json',
    what: 'what editors check it with',
    text: () => `${JSON.stringify(jsonSchema(), null, 2)}\n`,
  },
  // The state directory has the logins and the database of the sandbox.
  { file: '.gitignore', what: 'so that no login gets into the history', text: () => '.svc/\n' },
]

type Written = { file: string; status: 'written' | 'there already' | 'would be written' }

/** `svc sandbox init`: what a project begins with. What is there already stays as it is. */
export async function init(
  context: Context,
  { args, options }: CommandInput<z.infer<typeof InitOptions>>,
): Promise<CommandResult> {
  const folder = resolve(context.io.cwd, args[0] ?? '.')
  const files = FILES.map((each): Written & { what: string } => ({
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
  if (options.dryRun) context.note('Nothing was changed.')
  else tellNext(context, folder)
  if (existsSync(resolve(folder, '.gitignore')) && files.at(-1)?.status === 'there already')
    context.note('See that .gitignore has a line .svc/ in it: the logins of svc up are there.')
  return undefined
}

function place(folder: string, { file, text }: Starter, { dryRun }: { dryRun: boolean }): Written['status'] {
  const path = resolve(folder, file)
  if (existsSync(path)) return 'there already'
  if (dryRun) return 'would be written'
  try {
    // The project's folder may be new, and what it is in may not: that would be a mistyped path.
    for (const each of [folder, dirname(path)]) if (!existsSync(each)) mkdirSync(each)
    writeFileSync(path, text(), { flag: 'wx' })
    return 'written'
  } catch (error) {
    throw usageError(`can't write ${path}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function tellNext({ io, print, note }: Context, folder: string): void {
  if (print.isMachine) return
  const there = relative(io.cwd, folder)
  if (there !== '') note(`Next: cd ${quoted(there)}`)
  note(`${there === '' ? 'Next:' : '     '} svc sandbox run scenarios --ephemeral`)
  note('      svc up --seed demo, and svc secret snippet node > receiver.mjs')
}
