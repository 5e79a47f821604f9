import { writeFileSync } from 'node:fs'
import { z } from 'zod'
import { usageError } from '../../base/errors.ts'
import type { CommandInput, CommandResult, Context } from '../../kit/context.ts'
import { findScenarioFiles, isOtherJson, readScenarioFile } from '../read/find-files.ts'
import { migrateVerbs } from '../read/migrate-verbs.ts'
import { mistakesError } from './scenarios.ts'

export const MigrateOptions = z.object({ dryRun: z.boolean().default(false) })

/** Writes steps of older files with the verbs of today; all else in the files stays as it is. */
export async function migrate(
  context: Context,
  { args, options }: CommandInput<z.infer<typeof MigrateOptions>>,
): Promise<CommandResult> {
  const files = findScenarioFiles(args, { cwd: context.io.cwd }).flatMap(({ label, path, ...rest }) => {
    const text = readScenarioFile({ label, path })
    return isOtherJson({ label, path, ...rest }, text) ? [] : [{ path, file: label, ...migrateVerbs(label, text) }]
  })
  const changed = files.filter(({ changes }) => changes.length > 0)
  if (!options.dryRun) for (const { path, text } of changed) write(path, text)
  if (options.dryRun && !context.print.isMachine) context.io.stdout.write(changed.map(diffOf).join(''))
  else
    context.print.list({
      items: changed.map(({ file, changes }) => ({ file, steps: changes.length, changes })),
      fields: ['file', 'steps'],
      columns: [
        { title: 'file', value: ({ file }) => file },
        { title: 'steps', value: ({ steps }) => String(steps) },
      ],
      id: ({ file }) => file,
      empty: 'All verbs have the names of today.',
    })
  if (options.dryRun) context.note('Nothing was changed.')
  const mistakes = files.flatMap((each) => each.mistakes)
  if (mistakes.length > 0) throw mistakesError(context, mistakes, 'these steps are left as they are')
  return undefined
}

function diffOf({ file, changes }: Pick<ReturnType<typeof migrateVerbs>, 'changes'> & { file: string }): string {
  const marked = (text: string, mark: string): string[] => text.split('\n').map((line) => `${mark}${line}\n`)
  const hunks = changes.map(
    ({ line, before, after }) => `@@ line ${line} @@\n${[...marked(before, '-'), ...marked(after, '+')].join('')}`,
  )
  return `--- ${file}\n${hunks.join('')}`
}

function write(path: string, text: string): void {
  try {
    writeFileSync(path, text)
  } catch (error) {
    throw usageError(`can't write ${path}: ${error instanceof Error ? error.message : String(error)}`)
  }
}
