import { spawn } from 'node:child_process'
import { once } from 'node:events'

type Command = [file: string, ...args: string[]]

/**
 * The command that opens an address in this user's browser: $BROWSER, else what the system has. Undefined where there is
 * nobody to look at one: no display, a shell on another machine, or --no-input.
 */
export function browserCommand(env: NodeJS.ProcessEnv, platform: NodeJS.Platform, url: string): Command | undefined {
  if ((env['SVC_NO_INPUT'] ?? '') !== '') return undefined
  const own = env['BROWSER']?.trim() ?? ''
  if (own !== '') return withUrl(own.split(/\s+/), url)
  if ((env['SSH_CONNECTION'] ?? '') !== '') return undefined
  if (platform === 'darwin') return ['open', url]
  // `start` is a word of cmd.exe, which would read the address's ampersands as its own.
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler', url]
  const hasDisplay = (env['DISPLAY'] ?? '') !== '' || (env['WAYLAND_DISPLAY'] ?? '') !== ''
  return hasDisplay ? ['xdg-open', url] : undefined
}

function withUrl([file = '', ...args]: string[], url: string): Command {
  if (!args.includes('%s')) return [file, ...args, url]
  return [file, ...args.map((arg) => (arg === '%s' ? url : arg))]
}

/** Starts it, without a shell and without waiting for its end. Whether it could be started. */
export async function openBrowser([file, ...args]: Command): Promise<boolean> {
  const child = spawn(file, args, { stdio: 'ignore', detached: true })
  try {
    await once(child, 'spawn')
    child.unref()
    return true
  } catch {
    return false
  }
}
