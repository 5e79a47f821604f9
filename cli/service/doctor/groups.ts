import type { Check } from './check.ts'

/** What is looked over, in the order in which it is told. */
export const GROUPS = ['machine', 'service', 'database', 'identity', 'mail', 'webhooks', 'you'] as const
export type Group = (typeof GROUPS)[number]

export type GroupedCheck = Check & { group: Group }

const TITLES: Readonly<Record<Group, string>> = {
  machine: 'This machine',
  service: 'The service',
  database: 'The database',
  identity: 'Identity',
  mail: 'Mail',
  webhooks: 'Webhooks',
  you: 'You',
}

export function titleOf(group: Group): string {
  return TITLES[group]
}

const PASSWORD = /([a-z][a-z0-9+.-]*:\/\/[^\s:/@]*):[^\s]*@/gi

/** A check of a group, without the passwords of addresses that an error may have repeated. */
export function inGroup(group: Group, { check, state, text, fix }: Check): GroupedCheck {
  return { check, group, state, text: withoutPasswords(text), fix: fix === null ? null : withoutPasswords(fix) }
}

export function withoutPasswords(text: string): string {
  return text.replaceAll(PASSWORD, '$1:***@')
}
