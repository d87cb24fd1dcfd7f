const { platform, arch, versions } = process
const built = `uws_${platform}_${arch}_${versions.modules}.node`
// This folder is a link within node_modules/, and `__dirname` is where it leads.
module.exports = require(`${__dirname}/../node_modules/uws-pack/dist/bin/${built}`)
