import type { Sent } from './requests.ts'

/** The same request with as little in it as still shows the fault; `faultOf` sends one, and says what is wrong. */
export async function smallest(
  sent: Sent,
  fault: string,
  faultOf: (sent: Sent) => Promise<string | undefined>,
): Promise<Sent> {
  let least = sent
  for (const next of smallerOnes(sent)) {
    const candidate = next(least)
    if ((await faultOf(candidate)) === fault) least = candidate
  }
  return least
}

function smallerOnes({ headers, body, path }: Sent): ((sent: Sent) => Sent)[] {
  const without = (name: string) => (sent: Sent) => {
    const { [name]: _gone, ...rest } = sent.headers
    return { ...sent, headers: rest }
  }
  const members = (path.split('?')[1] ?? '').split('&').filter((part) => part !== '')
  const ofQuery = members.map((part) => (sent: Sent) => {
    const [place = '', query = ''] = sent.path.split('?')
    const left = query.split('&').filter((each) => each !== part)
    return { ...sent, path: left.length === 0 ? place : `${place}?${left.join('&')}` }
  })
  return [...Object.keys(headers).map(without), ...ofQuery, ...namesIn(body).map(withoutMember)]
}

function namesIn(body: string | undefined): string[] {
  try {
    const parsed: unknown = JSON.parse(body ?? '')
    return typeof parsed === 'object' && parsed !== null ? Object.keys(parsed) : []
  } catch {
    return []
  }
}

function withoutMember(name: string): (sent: Sent) => Sent {
  return (sent) => {
    const { [name]: _gone, ...rest } = JSON.parse(sent.body ?? '{}') as Record<string, unknown>
    return { ...sent, body: JSON.stringify(rest) }
  }
}
