/** What chose the identity of a command, as messages name it: `name` is a client id, or that of the profile. */
export type Chosen = {
  by: '--client-id' | 'SVC_CLIENT_ID' | 'SVC_TOKEN' | 'profile' | 'dev'
  name: string | undefined
}

/** Whose token a kind of operation is called with, as far as that is known. */
export type Identity = { clientId: string | undefined; realm: string | undefined }
