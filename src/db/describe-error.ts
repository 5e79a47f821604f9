import pg from 'pg'

type Fault = { code: string; message: string }

// Errors arrive wrapped (slonik keeps the driver's as the cause) or several at once (localhost has two
// addresses). The first one with a code of its own is the informative one.
const faultsOf = (error: unknown, depth = 0): Fault[] => {
  if (!(error instanceof Error) || depth > 5) return []
  const inner = error instanceof AggregateError ? error.errors : []
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return [...[...inner, error.cause].flatMap((each) => faultsOf(each, depth + 1)), { code, message: error.message }]
}

const advice: readonly { when: RegExp; what: string; remedy: string }[] = [
  {
    when: /ECONNREFUSED|ENOENT/,
    what: 'nothing accepts connections there',
    remedy: 'Start PostgreSQL, or correct the host and port in SVC_DATABASE_URL.',
  },
  {
    when: /ENOTFOUND|EAI_AGAIN/,
    what: 'the host name does not resolve',
    remedy: 'Correct the host in SVC_DATABASE_URL, or the DNS of this machine.',
  },
  {
    when: /ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|timeout expired|not answered/,
    what: 'the host does not answer in time',
    remedy: 'Check the network, the firewall and the port in SVC_DATABASE_URL.',
  },
  {
    when: /28P01|SASL|password must be/,
    what: 'the user name or password is rejected',
    remedy: 'Correct them in SVC_DATABASE_URL; percent-encode special characters of the password.',
  },
  {
    when: /no encryption|SSL off/,
    what: 'the server accepts only encrypted connections',
    remedy: 'Add ?sslmode=require to SVC_DATABASE_URL.',
  },
  {
    when: /28000/,
    what: 'the server rejects this user from this machine',
    remedy: "Allow it in the server's pg_hba.conf, or use another user in SVC_DATABASE_URL.",
  },
  {
    when: /3D000/,
    what: 'the database does not exist',
    remedy: 'Create it, or correct the name after the last slash of SVC_DATABASE_URL.',
  },
  {
    when: /22023|permission denied to set role/,
    what: 'a role of the service is missing, or this user is not a member of it',
    remedy: 'Run the migrations once as the owner of the database, and grant svc_merchant to this user.',
  },
  {
    when: /permission denied to create database/,
    what: 'this user may not create databases',
    remedy: 'Allow it to: alter role <user> createdb; or name another user in SVC_DATABASE_URL.',
  },
  {
    when: /53300/,
    what: 'the server has no connection left',
    remedy: "Raise the server's max_connections, or run fewer processes against it.",
  },
  {
    when: /57P03|57P01|the database system is/,
    what: 'the server is starting or stopping',
    remedy: 'Try again in a few seconds.',
  },
  {
    when: /does not support SSL/,
    what: 'the server does not support TLS',
    remedy: 'Remove sslmode from SVC_DATABASE_URL, or switch TLS on in the server.',
  },
  {
    when: /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_SSL|EPROTO/,
    what: "the server's TLS certificate is not trusted",
    remedy: 'Add sslrootcert=/path/to/ca.pem to SVC_DATABASE_URL, or correct the host name.',
  },
  {
    when: /ERR_INVALID_URL|Invalid URL/,
    what: 'the address is not a URL',
    remedy: 'Write SVC_DATABASE_URL as postgres://user:password@host:5432/database.',
  },
]

const WRONG_ADDRESS =
  /ECONNREFUSED|ENOENT|ENOTFOUND|28P01|SASL|password must be|no encryption|SSL off|28000|3D000|support SSL|CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_SSL|EPROTO|Invalid URL|ERR_INVALID_URL/

/** Whether host, login or database are wrong, or nothing is there; not where the server is slow, busy or at fault. */
export const isWrongAddress = (error: unknown): boolean =>
  faultsOf(error).some(({ code, message }) => WRONG_ADDRESS.test(`${code} ${message}`))

const SQL_STATE = /^(?!E[A-Z]{4}$)[0-9A-Z]{5}$/

const place = (databaseUrl: string): { name: string; password: string } => {
  try {
    const { host, port, user, database, password } = new pg.Client({ connectionString: databaseUrl })
    const name = `PostgreSQL at ${host}:${port} (database ${database ?? ''}, user ${user ?? ''})`
    return { name, password: typeof password === 'string' ? password : '' }
  } catch {
    return { name: 'PostgreSQL', password: '' }
  }
}

/**
 * Describes in one or two sentences, without any password, why the database of this URL cannot be used and
 * what to do. An unknown error is described by its innermost message.
 * @param variable the environment variable that names the database
 */
export const describeDatabaseError = (error: unknown, databaseUrl: string, variable = 'SVC_DATABASE_URL'): string =>
  described(error, databaseUrl).replaceAll('SVC_DATABASE_URL', variable)

const described = (error: unknown, databaseUrl: string): string => {
  const { name, password } = place(databaseUrl)
  const faults = faultsOf(error)
  const hide = (text: string): string => (password === '' ? text : text.replaceAll(password, '****'))
  for (const fault of faults) {
    const match = advice.find(({ when }) => when.test(`${fault.code} ${fault.message}`))
    if (match !== undefined) return `${name}: ${match.what}. ${match.remedy}`
  }
  const { code, message } = faults.find((fault) => fault.message !== '') ?? { code: '', message: String(error) }
  // Where the server itself rejects a statement, its address is right.
  return hide(`${name}: ${message}.${SQL_STATE.test(code) ? '' : ' Check SVC_DATABASE_URL.'}`)
}
