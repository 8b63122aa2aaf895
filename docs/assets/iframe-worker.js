// Makes the search work on a site that is opened as a file, without a server, and ranks words that
// are typed in full above those that only begin so.
//
// Browsers do not start workers from files. The theme searches in a worker; where there is none, it
// hides the search box. This class has the interface of a worker, and runs the script in a frame of
// the page. The name IFrameWorker is the one by which the theme's script knows that it runs so.
"use strict";

// The type of a message to the search that has a query.
const QUERY = 2;

// How much more a whole word counts than the beginning of a longer one.
const WHOLE = 4;

// The search takes each word as a beginning: "to numpy" finds "torch" and "total". Words that are
// typed in full count more, and short words, unless they are still being typed, count as they are.
// Words with signs that have a meaning in a query are left alone.
const rankedQuery = query => {
  const words = query.split(/\s+/).filter(Boolean);
  const ranked = words.flatMap((word, i) => {
    if (/["*+~^:-]/.test(word)) return [word];
    const whole = `${word}^${WHOLE}`;
    return word.length < 3 && i < words.length - 1 ? [whole] : [whole, word];
  });
  return query.includes('"') ? query : ranked.join(" ");
};

const ranked = message =>
  message?.type === QUERY ? { ...message, data: rankedQuery(message.data) } : message;

if (location.protocol !== "file:") {
  const Theirs = window.Worker;
  window.Worker = class extends Theirs {
    postMessage(message, ...rest) {
      super.postMessage(ranked(message), ...rest);
    }
  };
}

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
      this.ready.then(scope => scope.dispatchEvent(new scope.MessageEvent("message", { data: ranked(data) })));
    }

    terminate() {
      this.frame.remove();
    }
  };
  window.Worker = window.IFrameWorker;
}
