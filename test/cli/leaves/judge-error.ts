import type { Outcome } from '../harness.ts'

/** Notes what is wrong where something does not hold. */
export type Check = (holds: boolean, wrong: string) => void

/** A check, and what it has noted. */
export function makeCheck(): { check: Check; wrong: string[] } {
  const wrong: string[] = []
  return { check: (holds, what) => void (holds || wrong.push(what)), wrong }
}

const MEMBERS = ['code', 'message', 'status', 'hint', 'request_id', 'retryable']

/** The error for programs: whole, alone and of this code; its hint. */
export function judgeError(check: Check, { stdout, stderr }: Outcome, code: string): string | null {
  const lines = stderr.trimEnd().split('\n')
  check(lines.length === 1 && stderr.startsWith('{'), `refused: no JSON alone: ${stderr}${stdout}`)
  if (!stderr.startsWith('{')) return null
  const { error } = JSON.parse(lines[0] ?? '')
  for (const member of MEMBERS) check(member in error, `refused: ${member} is not there: ${stderr}`)
  check(error.code === code, `refused: the code is not ${code}: ${stderr}`)
  check(typeof error.retryable === 'boolean', `refused: retryable is ${String(error.retryable)}`)
  return error.hint
}
