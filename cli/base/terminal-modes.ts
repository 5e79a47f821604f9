import { spawnSync } from 'node:child_process'

/**
 * Remembers how the terminal reads what is typed, before another program has it. One that is killed leaves it as it
 * needed it itself: without echo, and with lines that begin where the last one ended.
 * @returns what sets it so again; nothing where there is no terminal, or no stty
 */
export function rememberModes(): () => void {
  if (process.platform === 'win32' || process.stdin.isTTY !== true) return () => undefined
  const { status, stdout } = spawnSync('stty', ['-g'], { stdio: ['inherit', 'pipe', 'ignore'], encoding: 'utf8' })
  const modes = stdout?.trim() ?? ''
  if (status !== 0 || !/^[\w:=;]+$/.test(modes)) return () => undefined
  return () => void spawnSync('stty', [modes], { stdio: ['inherit', 'ignore', 'ignore'] })
}
