#!/usr/bin/env node
/*
 * The launcher. It is written in old syntax on purpose: a Node.js that is too old has to get as far as the message that
 * says so. With a newer one installed beside the package (npm ci brings it), it starts itself again under that.
 */
/* eslint-disable no-var, prefer-arrow-callback, object-shorthand, prefer-template */
var NEEDED = 24
var SIGNAL_EXITS = { SIGHUP: 129, SIGINT: 130, SIGQUIT: 131, SIGKILL: 137, SIGTERM: 143 }

function fail(lines) {
  process.stderr.write(lines.join('\n') + '\n')
  process.exitCode = 1
}

function tooOld(lines) {
  fail(['Error: svc needs Node.js ' + NEEDED + ' or newer; this is ' + process.version + '.'].concat(lines))
}

/** A shell asks what could stand next: answered from the file of commands alone, and never with an error. */
function answerShell() {
  import('../dist/cli/entry/completion/main.js').then(
    function (cli) {
      return cli.main()
    },
    function () {
      // Not built, so that there is nothing to offer.
    },
  )
}

function loadCli() {
  if (process.argv[2] === '__complete') return answerShell()
  import('../dist/cli/main.js').then(
    function (cli) {
      return cli.main()
    },
    function (error) {
      // Only our own missing build is explained; a dependency that is missing explains itself.
      var isMissing =
        error &&
        error.code === 'ERR_MODULE_NOT_FOUND' &&
        /dist[\\/]cli[\\/]main\.js/.test(String(error.url || error.message))
      if (!isMissing) throw error
      return notBuilt()
    },
  )
}

/** A clone without its packages gets them and the build by one command; an installed package that lacks it is broken. */
function notBuilt() {
  return Promise.all([import('fs'), import('path')]).then(function (modules) {
    var fs = modules[0]
    var path = modules[1]
    var root = rootOf(fs, path)
    var how = isDependency(path, root)
      ? 'install the package again'
      : fs.existsSync(path.join(root, 'node_modules', 'typescript'))
        ? 'npm run build'
        : 'npm ci, which installs the packages and builds'
    fail(['Error: svc is not built yet: ' + path.join(root, 'dist') + ' is missing.', 'Try: ' + how])
  })
}

function rootOf(fs, path) {
  return path.dirname(path.dirname(fs.realpathSync(process.argv[1])))
}

/** Whether another package has installed this one, in which npm ci brings no Node.js along. */
function isDependency(path, root) {
  return root.split(path.sep).indexOf('node_modules') !== -1
}

/** The folder that this package is installed in, which is one further up below the scope of its name. */
function folderOfPackages(path, root) {
  var above = path.dirname(root)
  return path.basename(above).charAt(0) === '@' ? path.dirname(above) : above
}

/** The Node.js of this platform that npm ci brings to a checkout, or the npm package `node` to an installation. */
function findNewerNode(fs, path) {
  var root = rootOf(fs, path)
  var isWindows = process.platform === 'win32'
  var name = isWindows ? 'node.exe' : 'node'
  var own = 'node-' + (isWindows ? 'win' : process.platform) + '-' + process.arch
  var places = [
    path.join(root, 'node_modules', own, 'bin', name),
    path.join(root, 'node_modules', 'node', 'bin', name),
    path.join(folderOfPackages(path, root), 'node', 'bin', name),
  ]
  for (var i = 0; i < places.length; i += 1) {
    if (fs.existsSync(places[i]) && fs.realpathSync(places[i]) !== fs.realpathSync(process.execPath)) return places[i]
  }
  return undefined
}

function runAgainUnder(node, spawn) {
  var child = spawn(node, process.argv.slice(1), { stdio: 'inherit' })
  var signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']
  function pass(signal) {
    child.kill(signal)
  }
  for (var i = 0; i < signals.length; i += 1) process.on(signals[i], pass)
  child.on('error', function (error) {
    tooOld(['The newer one beside it does not start: ' + error.message])
  })
  // A child that a signal ended is told as shells tell it: 128 and the signal's number.
  child.on('exit', function (code, signal) {
    process.exit(signal ? SIGNAL_EXITS[signal] || 1 : code)
  })
}

function restart() {
  Promise.all([import('fs'), import('path'), import('child_process')]).then(
    function (modules) {
      var node = findNewerNode(modules[0], modules[1])
      if (node) return runAgainUnder(node, modules[2].spawn)
      var install = 'install Node.js ' + NEEDED + ' or newer from https://nodejs.org'
      if (isDependency(modules[1], rootOf(modules[0], modules[1]))) return tooOld(['Try: ' + install])
      return tooOld(['Try: npm ci, which brings a fitting Node.js along for npx svc; or ' + install])
    },
    function () {
      tooOld(['Try: install Node.js ' + NEEDED + ' from https://nodejs.org'])
    },
  )
}

if (Number(process.versions.node.split('.')[0]) >= NEEDED) loadCli()
else restart()
