import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CliError, usageError } from './errors.ts'
import type { Io } from './io.ts'

type EditOptions = {
  initial: string
  /** The end of the file's name, by which editors know its language: .txt, .yaml. */
  suffix: string
  /** What to type where no editor can be opened. */
  instead?: string
}

export function canEdit({ stdin, stdout }: Io): boolean {
  return stdin.isTTY && stdout.isTTY
}

/**
 * Lets the user write in the editor of VISUAL or EDITOR, and returns the text. Undefined is a text that was left as it
 * was, or emptied: nothing is meant by it. No other user can read the file, and is gone afterwards.
 * @throws {CliError} exit code 2 without a terminal or an editor; 1 when the editor failed
 */
export async function editText(io: Io, { initial, suffix, instead }: EditOptions): Promise<string | undefined> {
  if (!canEdit(io)) throw usageError('there is no terminal to open an editor on', instead)
  const editor = [io.env['VISUAL'], io.env['EDITOR']].find((name) => name !== undefined && name.trim() !== '')
  if (editor === undefined) {
    const hint = 'EDITOR=nano in the environment, or another editor'
    throw usageError('no editor is known', instead === undefined ? hint : `${hint}; or ${instead}`)
  }
  const folder = await mkdtemp(join(tmpdir(), 'svc-edit-'))
  try {
    const file = join(folder, `text${suffix}`)
    await writeFile(file, initial, { mode: 0o600, flag: 'wx' })
    await runEditor(io, editor, file)
    const text = await readFile(file, 'utf8')
    return text === initial || text.trim() === '' ? undefined : text
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The editor's name may be a command with words of its own, such as `code --wait`: a shell reads it, as with git. */
async function runEditor(io: Io, editor: string, file: string): Promise<void> {
  const ignore = (): void => undefined
  process.on('SIGINT', ignore)
  const restoreModes = rememberModes()
  try {
    const [command, words, shell] =
      process.platform === 'win32'
        ? [`${editor} "${file}"`, [], true]
        : ['/bin/sh', ['-c', `${editor} "$@"`, editor, file], false]
    const child = spawn(command, words, { stdio: 'inherit', env: io.env, shell })
    const [code, signal] = await once(child, 'exit')
    if (code === 0) return
    restoreModes()
    const how = code === 127 ? 'was not found' : `ended with ${String(code ?? signal)}`
    throw new CliError('EDITOR_FAILED', `the editor ${how}: ${editor}; nothing was sent`, {
      hint: 'another editor in VISUAL or EDITOR',
    })
  } finally {
    process.off('SIGINT', ignore)
  }
}

/**
 * Remembers how the terminal reads what is typed, before another program has it. One that is killed leaves it as it
 * needed it itself: without echo, and with lines that begin where the last one ended.
 * @returns what sets it so again; nothing where there is no terminal, or no stty
 */
function rememberModes(): () => void {
  if (process.platform === 'win32' || process.stdin.isTTY !== true) return () => undefined
  const { status, stdout } = spawnSync('stty', ['-g'], { stdio: ['inherit', 'pipe', 'ignore'], encoding: 'utf8' })
  const modes = stdout?.trim() ?? ''
  if (status !== 0 || !/^[\w:=;]+$/.test(modes)) return () => undefined
  return () => void spawnSync('stty', [modes], { stdio: ['inherit', 'ignore', 'ignore'] })
}
