import { enableCompileCache } from 'node:module'

// Each test file is a process of its own and loads the same few hundred modules: what was stripped of its types and
// compiled once is taken from the system's directory for temporary files afterwards.
enableCompileCache()
