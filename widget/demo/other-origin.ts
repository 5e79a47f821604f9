/**
 * The other loopback name of this machine, which browsers treat as another origin, as the checkout is to a shop. On
 * other hosts there is no second name, and the loader shows why it does not start.
 */
export function otherLoopbackOrigin({ protocol, hostname, host, origin }: Location): string {
  const twins: Record<string, string> = { localhost: '127.0.0.1', '127.0.0.1': 'localhost' }
  const twin = twins[hostname]
  return twin === undefined ? origin : `${protocol}//${host.replace(hostname, twin)}`
}
