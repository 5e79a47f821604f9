import { chmodSync, copyFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { Argument } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import { packageRoot } from '../../../src/lib/package-root.ts'
import { receiverFile } from '../../../src/lib/receivers.ts'
import { ChangeOptions, changing } from '../../kit/change.ts'
import { quoted } from '../../base/command-hints.ts'
import { action } from '../../kit/context.ts'
import type { CommandInput, CommandResult, Context, Runtime } from '../../kit/context.ts'
import { CliError } from '../../base/errors.ts'
import { EXIT } from '../../base/exit-codes.ts'
import { serverOf, withServer } from './samples-server.ts'
import type { Server } from './samples-server.ts'

const LANGUAGES = ['node', 'php', 'python'] as const
const Language = z.enum(LANGUAGES)
type Language = z.infer<typeof Language>

const NEEDS: Readonly<Record<Language, string>> = {
  node: 'Node.js 20.6 or later',
  php: 'PHP 7.4 or later',
  python: 'Python 3.8 or later',
}
const STARTS: Readonly<Record<Language, string>> = {
  node: 'npm start',
  php: 'sh start.sh',
  python: 'set -a; . ./.env; set +a; python3 shop.py',
}

export function addSamples(samples: Command, runtime: Runtime): void {
  samples
    .command('list')
    .description('list the apps that there are')
    .addHelpText('after', '\nExamples:\n  svc samples list\n')
    .action(action(runtime, z.object({}), list))
  changing(samples.command('create'), 'say which files would be written, and write none')
    .description('write a shop that makes payments and receives webhooks: small, whole, without packages')
    .addArgument(new Argument('<language>', 'what it is written in').choices(LANGUAGES))
    .option('--dir <directory>', 'where; it must be empty, or not be there (svc-shop)')
    .addHelpText('after', '\nExamples:\n  svc samples create node\n  svc samples create python --dir shop\n')
    .action(action(runtime, CreateOptions, create))
}

async function list({ print }: Context, _input: CommandInput<object>): Promise<CommandResult> {
  print.list({
    items: LANGUAGES.map((name) => ({ name, needs: NEEDS[name], files: filesOf(name).map(({ name: file }) => file) })),
    fields: ['name', 'needs', 'files'],
    columns: [
      { title: 'sample', value: (row) => row.name },
      { title: 'needs', value: (row) => row.needs },
      { title: 'files', value: (row) => row.files.join(', '), below: true },
    ],
    id: (row) => row.name,
    empty: '',
  })
  return undefined
}

const CreateOptions = ChangeOptions.pick({ dryRun: true }).extend({ dir: z.string().min(1).default('svc-shop') })

/** What is written never replaces anything, and holds no secret: those are filled in by who has them. */
async function create(
  context: Context,
  { args, options }: CommandInput<z.infer<typeof CreateOptions>>,
): Promise<CommandResult> {
  const language = Language.parse(args[0])
  const server = serverOf(context)
  const folder = resolve(context.io.cwd, options.dir)
  refuseFull(folder, options.dir)
  const files = filesOf(language)
  if (!options.dryRun) write(folder, files, server)
  const written = files.map(({ name }) => name)
  const shown = relative(context.io.cwd, folder) || '.'
  context.print.record({
    item: { dry_run: options.dryRun, language, dir: folder, files: written },
    id: folder,
    lines: [
      [options.dryRun ? 'Would write' : 'Written to', shown],
      ['Files', written.join(', ')],
    ],
  })
  context.note(options.dryRun ? 'Nothing was written.' : nextSteps(language, shown, server))
  return undefined
}

function nextSteps(language: Language, folder: string, { secrets }: Server): string {
  return [
    'Next:',
    `  cd ${quoted(folder)}`,
    '  cp .env.example .env    # and fill in its two secrets',
    // What changes something is told in the file alone, where it is read before it is typed.
    ...secrets.filter(({ changes }) => !changes).map(({ command, gives }) => `  ${command}    # ${gives}`),
    `  ${STARTS[language]}`,
    '  svc listen --forward-to localhost:4242    # in another terminal',
  ].join('\n')
}

/** @throws {CliError} exit code 2 */
function refuseFull(folder: string, named: string): void {
  try {
    if (readdirSync(folder).length === 0) return
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT') return
    if (code !== 'ENOTDIR') throw error
    throw new CliError('DIR_UNUSABLE', `--dir: ${named} is no directory`, { exit: EXIT.usage, hint: '--dir <another>' })
  }
  throw new CliError('DIR_NOT_EMPTY', `--dir: ${named} is not empty, and nothing in it is replaced`, {
    exit: EXIT.usage,
    hint: '--dir <another>',
  })
}

type SampleFile = { name: string; from: string }

/** The sample's own files, with the receiver and the settings that others have too. */
function filesOf(language: Language): SampleFile[] {
  const examples = join(packageRoot(), 'examples')
  const own = join(examples, 'samples', language)
  const receiver = receiverFile(language)
  return [
    ...readdirSync(own).map((name) => ({ name, from: join(own, name) })),
    { name: receiver, from: join(examples, 'receivers', receiver) },
    { name: '.env.example', from: join(examples, 'samples', 'env.example') },
  ].toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

function write(folder: string, files: readonly SampleFile[], server: Server): void {
  mkdirSync(folder, { recursive: true })
  for (const { name, from } of files) {
    const to = join(folder, name)
    copyFileSync(from, to)
    // The package's files may be read-only where it is installed.
    chmodSync(to, name.endsWith('.sh') ? 0o755 : 0o644)
  }
  const settings = join(folder, '.env.example')
  writeFileSync(settings, withServer(readFileSync(settings, 'utf8'), server))
  writeFileSync(join(folder, '.gitignore'), GITIGNORE, { flag: 'wx' })
}

const GITIGNORE = '.env\nnode_modules/\n__pycache__/\norders/\nreceived/\n'
