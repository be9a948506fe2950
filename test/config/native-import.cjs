// CommonJS modules are not rewritten by the test runner: this import is Node's own, resolve hooks included.
module.exports = (url) => import(url);
