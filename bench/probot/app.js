// The smallest Probot app: it takes `issues` events in and does nothing with them.
export default (app) => {
  app.on("issues", async () => {});
};
