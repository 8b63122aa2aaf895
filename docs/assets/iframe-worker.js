// Makes the search work on a site that is opened as a file, without a server.
//
// Browsers do not start workers from files. The theme searches in a worker; where there is none, it
// hides the search box. This class has the interface of a worker, and runs the script in a frame of
// the page. The name IFrameWorker is the one by which the theme's script knows that it runs so.
"use strict";

if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.srcdoc = "<!doctype html>";
      this.ready = new Promise((resolve, reject) => {
        this.frame.onload = () => {
          const scope = this.frame.contentWindow;
          // What the script posts goes to the listeners of this object.
          scope.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }));
          scope.importScripts = async (...urls) => {
            for (const each of urls) await this.load(each);
          };
          this.load(url).then(() => resolve(scope), reject);
        };
      });
      this.ready.catch(error => this.dispatchEvent(new ErrorEvent("error", { error })));
      document.body.append(this.frame);
    }

    // Loads a script in the frame.
    load(url) {
      return new Promise((resolve, reject) => {
        const script = this.frame.contentDocument.createElement("script");
        script.src = new URL(url, location);
        script.onload = resolve;
        script.onerror = () => reject(new Error(`${url} was not loaded`));
        this.frame.contentDocument.body.append(script);
      });
    }

    postMessage(data) {
      this.ready.then(scope => scope.dispatchEvent(new scope.MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  };
  window.Worker = window.IFrameWorker;
}
