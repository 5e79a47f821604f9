import type { Adapter, AdapterFactory, AdapterPayload } from 'oidc-provider'

export type ProtocolRows = Map<string, { payload: AdapterPayload; until: number }>

export type ProtocolState = {
  adapter: AdapterFactory
  /** Ends all access tokens, as time would: refresh tokens stay. */
  endAccessTokens(): void
}

const ACCESS_TOKENS = /^(AccessToken|ClientCredentials):/

/** The protocol library's state, in memory and of one bank alone; clients come from the bank's registrations. */
export function makeProtocolState(
  rows: ProtocolRows,
  findClient: (clientId: string) => AdapterPayload | undefined,
): ProtocolState {
  return {
    adapter: (model) => (model === 'Client' ? clientsOf(findClient) : stateOf(rows, model)),
    endAccessTokens: () => {
      for (const key of rows.keys()) if (ACCESS_TOKENS.test(key)) rows.delete(key)
    },
  }
}

function stateOf(rows: ProtocolRows, model: string): Adapter {
  const keyOf = (id: string): string => `${model}:${id}`
  const find = (id: string): AdapterPayload | undefined => {
    const row = rows.get(keyOf(id))
    return row !== undefined && row.until > Date.now() ? row.payload : undefined
  }
  return {
    upsert: async (id, payload, expiresIn) => {
      const until = expiresIn ? Date.now() + expiresIn * 1_000 : Infinity
      rows.set(keyOf(id), { payload, until })
    },
    find: async (id) => find(id),
    findByUid: async (uid) =>
      [...rows].find(([key, { payload }]) => key.startsWith(`${model}:`) && payload.uid === uid)?.[1].payload,
    findByUserCode: async () => undefined,
    consume: async (id) => {
      const payload = find(id)
      if (payload !== undefined) payload.consumed = Math.floor(Date.now() / 1_000)
    },
    destroy: async (id) => {
      rows.delete(keyOf(id))
    },
    revokeByGrantId: async (grantId) => {
      for (const [key, { payload }] of rows) if (payload.grantId === grantId) rows.delete(key)
    },
  }
}

function clientsOf(findClient: (clientId: string) => AdapterPayload | undefined): Adapter {
  const isReadOnly = async (): Promise<never> => {
    throw new Error('clients are registered at the registration endpoint alone')
  }
  return {
    upsert: isReadOnly,
    find: async (id) => findClient(id),
    findByUid: async () => undefined,
    findByUserCode: async () => undefined,
    consume: isReadOnly,
    destroy: isReadOnly,
    revokeByGrantId: async () => undefined,
  }
}
