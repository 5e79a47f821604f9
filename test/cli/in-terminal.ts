import type { Test } from 'tap'
import { SCRATCH } from '../support/scratch.ts'
import { commandFromSource, open } from '../support/terminal.ts'
import type { OpenOptions, Opened } from '../support/terminal.ts'

/** A command line of svc in a terminal of its own, as the merchant's client demo. */
export function openSvc(t: Test, words: readonly string[], { env = {}, ...options }: OpenOptions = {}): Opened {
  const own = { SVC_CLIENT_ID: 'demo', SVC_CONFIG_DIR: '/nowhere/config', SVC_STATE_DIR: '/nowhere/state' }
  // The shell around it goes on after a Ctrl+C, and tells how the command ended.
  return open(t, `trap : INT; ${commandFromSource(words)}`, { cwd: SCRATCH, ...options, env: { ...own, ...env } })
}
