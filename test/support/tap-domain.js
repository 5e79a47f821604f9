/*
 * Stands for the package async-hook-domain, by which tap assigns an error that nothing caught to its test. That package
 * follows every promise and callback of the process by async hooks, which cost the tests a sixth of their CPU. Here such an
 * error fails the run itself, the first domain, with its stack; the other tests continue.
 */
const domains = []

export class Domain {
  destroyed = false

  constructor(onerror) {
    this.onerror = onerror
    domains.push(this)
  }

  destroy() {
    this.destroyed = true
    const index = domains.lastIndexOf(this)
    if (index !== -1) domains.splice(index, 1)
  }
}

for (const event of ['uncaughtException', 'unhandledRejection']) {
  process.on(event, (error) => {
    const [run] = domains
    if (run !== undefined) return run.onerror(error, event)
    console.error(error)
    process.exitCode = 1
  })
}
