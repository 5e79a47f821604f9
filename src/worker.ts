import type { App } from './app.ts'
import { jobs, runJobsOnce, startJobs } from './jobs.ts'
import type { Job } from './jobs.ts'

/** A running worker. `stop` ends it within seconds: no new work, and what is under way is finished. */
export type Worker = { stop(): Promise<void> }

/**
 * Runs the job table in this process. Any number of workers may run over one database.
 * @param options `jobs` is another table than the service's own, for tests
 */
export function startWorker(app: App, options: { jobs?: readonly Job[] } = {}): Worker {
  const running = startJobs(app, options.jobs ?? jobs)
  app.log.info('the worker has started')
  let stopped: Promise<void> | undefined
  return {
    stop: () => {
      stopped ??= running.stop().then(() => app.log.info('the worker has stopped'))
      return stopped
    },
  }
}

/** Does what is due now and returns, with the names of the jobs that failed. Others may be at work beside it. */
export async function workOnce(app: App, options: { jobs?: readonly Job[] } = {}): Promise<string[]> {
  const failed = await runJobsOnce(app, options.jobs ?? jobs)
  app.log.info({ failed }, 'what was due has been done')
  return failed
}
