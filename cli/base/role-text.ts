import { NO_ROLE } from '../../src/lib/permissions.ts'

/** A role as people read it: a client that was made without one may do what payments need, and nothing else. */
export function roleText(role: string | null): string {
  return role === null || role === NO_ROLE ? 'payments only' : role
}

export function actorText({ actor, actor_role: role }: { actor: string; actor_role: string }): string {
  return `${actor} (${role === NO_ROLE ? 'service' : role})`
}
