/** Where in the hub the payer is, as the address's hash says. */
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

/** What a hash leads to; the payments where it says nothing that is known. */
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

/** A token is base64url of 32 bytes; what is longer than the contract allows is none. */
const TOKEN = /^[\w-]{1,256}$/

/** The token that a link brought; empty where what it brought can be none, undefined where it brought nothing. */
export function tokenIn(hash: string): string | undefined {
  const [, token] = /^#token=(.*)$/s.exec(hash) ?? []
  return token === undefined ? undefined : TOKEN.test(token) ? token : ''
}
