/** A view of the hub, as encoded in the URL's hash. */
export type Route =
  | { name: 'payments' }
  | { name: 'payment'; id: string }
  | { name: 'dispute'; id: string }
  | { name: 'permissions' }
  | { name: 'cancel'; id: string }
  | { name: 'new-link' }

const PLAIN = ['payments', 'permissions', 'new-link'] as const
const OF_ONE = ['payment', 'dispute', 'cancel'] as const
const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Parses a hash; unknown ones lead to the payments. */
export function routeOf(hash: string): Route {
  const [key, id] = hash.replace(/^#/, '').split('=', 2)
  const plain = PLAIN.find((name) => name === key)
  if (plain !== undefined) return { name: plain }
  const ofOne = OF_ONE.find((name) => name === key)
  return ofOne !== undefined && id !== undefined && ID.test(id) ? { name: ofOne, id } : { name: 'payments' }
}

export function hashOf(route: Route): string {
  return 'id' in route ? `#${route.name}=${route.id}` : `#${route.name}`
}

/** A token is base64url of 32 bytes; longer text than the contract allows is rejected. */
const TOKEN = /^[\w-]{1,256}$/

/** The token in a link's hash; empty if it is malformed, undefined if there is none. */
export function tokenIn(hash: string): string | undefined {
  const [, token] = /^#token=(.*)$/s.exec(hash) ?? []
  return token === undefined ? undefined : TOKEN.test(token) ? token : ''
}
