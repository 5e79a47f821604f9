import { asTyped } from '../../called-as.ts'
import { z } from 'zod'
import type { CommandInput, CommandResult, Context } from '../../context.ts'
import { CliError } from '../../errors.ts'
import { EXIT } from '../../exit-codes.ts'
import { builtIn, listBuiltIns, readScenarioFile } from '../../scenario/find-files.ts'
import { jsonSchema } from '../../scenario/language.ts'
import { loadScenarios, readVars } from '../../scenario/load.ts'
import { mistakeText } from '../../scenario/source.ts'
import type { Mistake } from '../../scenario/source.ts'

export const ValidateOptions = z.object({ var: z.array(z.string()).default([]) })

export async function list(context: Context): Promise<CommandResult> {
  const items = listBuiltIns().map(({ name, title }) => ({ name, title }))
  context.print.list({
    items,
    fields: ['name', 'title'],
    columns: [
      { title: 'name', value: (row) => row.name },
      { title: 'story', value: (row) => row.title },
    ],
    id: (row) => row.name,
    empty: 'There are no built-in scenarios.',
  })
  return undefined
}

/** Prints the file as it is: to read, and to begin one's own with. */
export async function show(context: Context, { args }: CommandInput<object>): Promise<CommandResult> {
  context.io.stdout.write(readScenarioFile(builtIn(args[0] ?? '')))
  return undefined
}

export async function schema(context: Context): Promise<CommandResult> {
  context.io.stdout.write(`${JSON.stringify(jsonSchema(), null, 2)}\n`)
  return undefined
}

export async function validate(
  context: Context,
  { args, options }: CommandInput<z.infer<typeof ValidateOptions>>,
): Promise<CommandResult> {
  const { cases, mistakes, files } = loadScenarios(args, { cwd: context.io.cwd, vars: readVars(options.var) })
  if (mistakes.length > 0) throw mistakesError(context, mistakes)
  context.print.record({
    item: { files, cases: cases.length, valid: true },
    id: String(cases.length),
    lines: [
      [
        'Valid',
        `${cases.length} ${cases.length === 1 ? 'case' : 'cases'} in ${files} ${files === 1 ? 'file' : 'files'}`,
      ],
    ],
  })
  return undefined
}

/** All mistakes of all files, as one error: exit code 2. Programs get them as a list, people with the lines they are in. */
export function mistakesError(context: Context, mistakes: readonly Mistake[]): CliError {
  const summary = `${mistakes.length === 1 ? 'there is a mistake' : `there are ${mistakes.length} mistakes`}; nothing was played`
  if (!context.json) {
    const text = asTyped(mistakes.map(mistakeText).join('\n\n'), context.io.calledAs)
    return new CliError('SCENARIO_INVALID', `${summary}\n\n${text}\n`, { exit: EXIT.usage })
  }
  const fields = mistakes.map(({ place, message }) => ({
    path: `${place.file}:${place.line}:${place.column}`,
    code: 'SCENARIO_INVALID',
    message,
  }))
  return new CliError('SCENARIO_INVALID', summary, { exit: EXIT.usage, fields })
}
