import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { z } from 'zod'
import { ChangeOptions } from '../kit/change.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { CliError, usageError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'

export const CreateOptions = ChangeOptions.pick({ dryRun: true })

const NAME = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/
const NAME_MAX = 60
const ENDING = '.sql'

/** `svc migrate create`: an empty migration with the next number, in the checkout that the command runs in. */
export async function migrateCreate(
  context: Context,
  { args, options }: CommandInput<z.infer<typeof CreateOptions>>,
): Promise<CommandResult> {
  const name = args[0] ?? ''
  if (!NAME.test(name) || name.length > NAME_MAX)
    throw usageError(
      `"${name}" is no name of a migration: small letters, digits and _`,
      `svc migrate create ${fitting(name)}`,
    )
  const folder = migrationsOf(context.io.cwd)
  const taken = readdirSync(folder).filter((file) => /^\d{4}_\w+\.sql$/.test(file))
  if (taken.some((file) => file.slice(5) === name + ENDING)) throw usageError(`there is a migration ${name} already`)
  const number = Math.max(0, ...taken.map((file) => Number.parseInt(file, 10))) + 1
  const file = join(folder, `${String(number).padStart(4, '0')}_${name}${ENDING}`)
  // Two who begin one at the same moment get no common number unseen: what is there is not replaced.
  if (!options.dryRun)
    writeFileSync(file, `-- ${name.replaceAll('_', ' ')}: why it is there, and what reads it.\n`, { flag: 'wx' })
  const shown = relative(context.io.cwd, file)
  context.print.record({
    item: { dry_run: options.dryRun, file },
    id: file,
    lines: [[options.dryRun ? 'Would write' : 'Written', shown]],
  })
  context.note(
    options.dryRun
      ? 'Nothing was written.'
      : 'To apply it: svc migrate up. A migration that others have applied is never edited.',
  )
  return undefined
}

function fitting(name: string): string {
  const words = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^[\d_]+|_+$/g, '')
  return words === '' ? 'add_something' : words.slice(0, NAME_MAX)
}

/** The folder of migrations of the checkout above this directory; an installed package is nobody's to change. */
function migrationsOf(from: string): string {
  const migrations = join(from, 'migrations')
  if (existsSync(join(from, 'src', 'db', 'migrate.ts')) && existsSync(migrations)) return migrations
  const parent = dirname(from)
  if (parent !== from) return migrationsOf(parent)
  throw new CliError('NO_CHECKOUT', 'this is no checkout of svc: migrations are part of its source', {
    exit: EXIT.usage,
    hint: 'the same command in a clone of its repository',
  })
}
