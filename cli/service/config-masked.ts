const SECRET = /SECRET|PASSWORD|TOKEN|ENCRYPTION_KEY|MOCK_BANK_CODE/

/** A setting's value as it may be shown: nothing of a secret, and no password or parameter of an address. */
export function masked(name: string, value: string): string {
  if (SECRET.test(name)) return '********'
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(value)) return value
  if (!URL.canParse(value)) return '********'
  const { protocol, username, password, host, pathname, search } = new URL(value)
  const login = password !== '' ? `${username}:********@` : username === '' ? '' : `${username}@`
  // Parameters may hold a password too.
  return `${protocol}//${login}${host}${pathname}${search === '' ? '' : '?…'}`
}
