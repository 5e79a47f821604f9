/** What was looked at, and what to do about it. */
export type Check = {
  check: string
  /** `remark` where something could be better and nothing is wrong; `skipped` where it could not be looked at: the reason is told. */
  state: 'ok' | 'remark' | 'finding' | 'skipped'
  text: string
  /** A command to type; null where nothing is to be done. */
  fix: string | null
}

export function ok(check: string, text: string): Check {
  return { check, state: 'ok', text, fix: null }
}

/** What is worth knowing, and no finding: with it alone everything is well. */
export function remark(check: string, text: string, fix: string): Check {
  return { check, state: 'remark', text, fix }
}

export function finding(check: string, text: string, fix: string): Check {
  return { check, state: 'finding', text, fix }
}

export function skipped(check: string, text: string): Check {
  return { check, state: 'skipped', text, fix: null }
}
