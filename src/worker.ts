import type { App } from './app.ts'
import { jobs, runJobsOnce, startJobs } from './jobs.ts'
import type { Job } from './jobs.ts'

/** A running worker. `stop` ends it within seconds: it takes no new work, and completes the work in progress. */
export type Worker = { stop(): Promise<void> }

/**
 * Runs the job table in this process. Any number of workers may run over one database.
 * @param options `jobs` replaces the service's job table, for tests
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

/** Runs what is due now, and returns the names of the jobs that failed. Other workers may run at the same time. */
export async function workOnce(app: App, options: { jobs?: readonly Job[] } = {}): Promise<string[]> {
  const failed = await runJobsOnce(app, options.jobs ?? jobs)
  app.log.info({ failed }, 'completed the work that was due')
  return failed
}
